% Michalski's ten trains: five go east, and five, which are denied, go west.
% Of each car: long or short, open or closed, the shape of its body, its wheels, and what it is loaded with.

eastbound(east1).
eastbound(east2).
eastbound(east3).
eastbound(east4).
eastbound(east5).
0.0::eastbound(west6).
0.0::eastbound(west7).
0.0::eastbound(west8).
0.0::eastbound(west9).
0.0::eastbound(west10).

has_car(east1, east1_1). long(east1_1). open(east1_1). rectangle_body(east1_1). wheels_2(east1_1). load_rectangle(east1_1). loads_3(east1_1).
has_car(east1, east1_2). short(east1_2). closed(east1_2). rectangle_body(east1_2). wheels_2(east1_2). load_triangle(east1_2). loads_1(east1_2).
has_car(east1, east1_3). long(east1_3). open(east1_3). rectangle_body(east1_3). wheels_3(east1_3). load_hexagon(east1_3). loads_1(east1_3).
has_car(east1, east1_4). short(east1_4). open(east1_4). rectangle_body(east1_4). wheels_2(east1_4). load_circle(east1_4). loads_1(east1_4).

has_car(east2, east2_1). short(east2_1). open(east2_1). u_shaped_body(east2_1). wheels_2(east2_1). load_triangle(east2_1). loads_1(east2_1).
has_car(east2, east2_2). short(east2_2). open(east2_2). u_shaped_body(east2_2). wheels_2(east2_2). load_rectangle(east2_2). loads_1(east2_2).
has_car(east2, east2_3). short(east2_3). closed(east2_3). rectangle_body(east2_3). wheels_2(east2_3). load_circle(east2_3). loads_2(east2_3).

has_car(east3, east3_1). short(east3_1). open(east3_1). rectangle_body(east3_1). wheels_2(east3_1). load_circle(east3_1). loads_1(east3_1).
has_car(east3, east3_2). short(east3_2). closed(east3_2). hexagon_body(east3_2). wheels_2(east3_2). load_triangle(east3_2). loads_1(east3_2).
has_car(east3, east3_3). long(east3_3). closed(east3_3). rectangle_body(east3_3). wheels_3(east3_3). load_triangle(east3_3). loads_1(east3_3).

has_car(east4, east4_1). short(east4_1). open(east4_1). u_shaped_body(east4_1). wheels_2(east4_1). load_triangle(east4_1). loads_1(east4_1).
has_car(east4, east4_2). short(east4_2). open(east4_2). double_body(east4_2). wheels_2(east4_2). load_triangle(east4_2). loads_1(east4_2).
has_car(east4, east4_3). short(east4_3). closed(east4_3). ellipse_body(east4_3). wheels_2(east4_3). load_rectangle(east4_3). loads_1(east4_3).
has_car(east4, east4_4). short(east4_4). open(east4_4). rectangle_body(east4_4). wheels_2(east4_4). load_rectangle(east4_4). loads_1(east4_4).

has_car(east5, east5_1). short(east5_1). open(east5_1). double_body(east5_1). wheels_2(east5_1). load_triangle(east5_1). loads_1(east5_1).
has_car(east5, east5_2). long(east5_2). closed(east5_2). rectangle_body(east5_2). wheels_3(east5_2). load_rectangle(east5_2). loads_1(east5_2).
has_car(east5, east5_3). short(east5_3). closed(east5_3). rectangle_body(east5_3). wheels_2(east5_3). load_circle(east5_3). loads_1(east5_3).

has_car(west6, west6_1). long(west6_1). closed(west6_1). rectangle_body(west6_1). wheels_2(west6_1). load_circle(west6_1). loads_3(west6_1).
has_car(west6, west6_2). short(west6_2). open(west6_2). rectangle_body(west6_2). wheels_2(west6_2). load_triangle(west6_2). loads_1(west6_2).

has_car(west7, west7_1). short(west7_1). open(west7_1). double_body(west7_1). wheels_2(west7_1). load_circle(west7_1). loads_1(west7_1).
has_car(west7, west7_2). short(west7_2). open(west7_2). u_shaped_body(west7_2). wheels_2(west7_2). load_triangle(west7_2). loads_1(west7_2).
has_car(west7, west7_3). long(west7_3). closed(west7_3). rectangle_body(west7_3). wheels_2(west7_3).

has_car(west8, west8_1). long(west8_1). closed(west8_1). rectangle_body(west8_1). wheels_3(west8_1). load_rectangle(west8_1). loads_1(west8_1).
has_car(west8, west8_2). short(west8_2). open(west8_2). u_shaped_body(west8_2). wheels_2(west8_2). load_circle(west8_2). loads_1(west8_2).

has_car(west9, west9_1). short(west9_1). open(west9_1). u_shaped_body(west9_1). wheels_2(west9_1). load_circle(west9_1). loads_1(west9_1).
has_car(west9, west9_2). long(west9_2). closed(west9_2). rectangle_body(west9_2). wheels_2(west9_2). load_rectangle(west9_2). loads_1(west9_2).
has_car(west9, west9_3). short(west9_3). open(west9_3). rectangle_body(west9_3). wheels_2(west9_3). load_rectangle(west9_3). loads_1(west9_3).

has_car(west10, west10_1). short(west10_1). open(west10_1). u_shaped_body(west10_1). wheels_2(west10_1). load_rectangle(west10_1). loads_1(west10_1).
has_car(west10, west10_2). long(west10_2). open(west10_2). rectangle_body(west10_2). wheels_2(west10_2). load_rectangle(west10_2). loads_2(west10_2).
