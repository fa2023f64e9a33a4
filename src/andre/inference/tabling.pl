% Tables the predicates of a background over the terms that are reached from given ones.
%
% Reads a job from standard input, as terms: the background as one text, limits, the
% given terms, their types, examples, steps that facts make between terms, and the
% predicates to table. Writes what is found to standard output, a line each:
%
%   t TEXT           a new term, in canonical text; terms are numbered as they come
%   f P I1 ... In    a fact: predicate number P holds of these terms
%   n NAME NUMBER    something worth a note
%   s NAME           a limit that ended the work
%   e LINE TEXT      why the background cannot be run
%
% The background is loaded and called in a sandbox: library(sandbox) lets it reach no
% file, no process and no network. What it prints goes nowhere.

:- module(andre_tabling, [main/0]).

:- use_module(library(sandbox)).
:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(occurs)).
:- use_module(library(ordsets)).
:- use_module(library(solution_sequences)).

:- dynamic
    limit_of/2,         % Name, Number
    term_of/2,          % Id, Term
    depth_of/2,         % Id, Depth
    place/2,            % key of Type and N, Id: the N-th term of a type
    typed/1,            % key of Type and Id
    type_number/2,      % Name, Number
    example/1,          % Ids
    step/2,             % Id, Id: from an input of a fact to its outputs
    to_table/4,         % P, Name, Types, Directions
    mode_of/5,          % M, P, Name/Arity, list of in(Type) and out(Type), plain or back or build
    done/2.             % M, how many terms of each input's type it was called with

main :-
    set_stream(user_input, encoding(utf8)),
    set_stream(user_output, encoding(utf8)),
    stream_property(Out, alias(user_output)),
    nb_setval(out, Out),
    trie_new(Terms), nb_setval(terms, Terms),
    trie_new(Facts), nb_setval(facts, Facts),
    forall(member(Name, [n_terms, n_facts, n_types, n_modes, n_called, passes, reported]), nb_setval(Name, 0)),
    nb_setval(range, none),
    read_job(Background),
    nb_getval(n_terms, Given), nb_setval(given, Given),
    open_null_stream(Null), set_output(Null), set_stream(Null, alias(user_output)),
    (   load(Background)
    ->  get_time(Now), limit_of(seconds, Seconds),
        Deadline is Now + Seconds, nb_setval(deadline, Deadline),
        catch(( find_modes, expand ), stop(Why), emit('s ~w', [Why])),
        forall(( member(Name, [beyond, open, cut, missing]), counted(Name, Count), Count > 0 ),
               emit('n ~w ~d', [Name, Count]))
    ;   true
    ),
    flush_output(Out),
    halt.

emit(Format, Args) :-
    nb_getval(out, Out),
    format(Out, Format, Args), nl(Out).

% --- the job -------------------------------------------------------------------------

read_job(Background) :-
    read_term(user_input, Term, [double_quotes(atom)]),
    (   Term == go -> true
    ;   Term = background(Background) -> read_job(Background)
    ;   take(Term), read_job(Background)
    ).

take(limit(Name, Number)) :- assertz(limit_of(Name, Number)).
take(t(Term)) :- add_term(Term, 0, _), widen(Term).
take(of(Type, Ids)) :- type_index(Type, Index), maplist(add_type(Index), Ids).
take(library(Name)) :- bg:use_module(library(Name)).
take(example(Ids)) :- assertz(example(Ids)).
take(step(From, To)) :- assertz(step(From, To)).
take(table(P, Name, Types, Directions)) :- assertz(to_table(P, Name, Types, Directions)).

% The range of the whole numbers that are given, or are part of what is given.
widen(Term) :-
    forall(( sub_term(Part, Term), integer(Part) ), widen_to(Part)).

widen_to(N) :-
    (   nb_getval(range, Low-High)
    ->  Low1 is min(Low, N), High1 is max(High, N), nb_setval(range, Low1-High1)
    ;   nb_setval(range, N-N)
    ).

type_index(Type, Index) :- type_number(Type, Index), !.
type_index(Type, Index) :-
    count_up(n_types, Index), assertz(type_number(Type, Index)), size_key(Index, Key), nb_setval(Key, 0).

size_key(Index, Key) :- atom_concat(size_, Index, Key).

type_size(Index, Size) :- size_key(Index, Key), nb_getval(Key, Size).

count_up(Name, N) :- nb_getval(Name, N), N1 is N + 1, nb_setval(Name, N1).

counted(Name, N) :- ( nb_current(Name, N) -> true ; N = 0 ).

note(Name) :- counted(Name, N), N1 is N + 1, nb_setval(Name, N1).

% add_term(+Term, +Depth, -Id): the number of a term, a new one where it is not known.
add_term(Term, Depth, Id) :-
    nb_getval(terms, Terms),
    (   trie_lookup(Terms, Term, Id)
    ->  true
    ;   count_up(n_terms, Id),
        trie_insert(Terms, Term, Id),
        assertz(term_of(Id, Term)), assertz(depth_of(Id, Depth))
    ).

add_type(Index, Id) :-
    key(Index, Id, Key),
    (   typed(Key) -> true
    ;   assertz(typed(Key)),
        size_key(Index, SizeKey), nb_getval(SizeKey, N),
        key(Index, N, At), assertz(place(At, Id)),
        N1 is N + 1, nb_setval(SizeKey, N1)
    ).

term_at(Index, N, Id) :- key(Index, N, At), place(At, Id).

% Facts are found by one number: type and term, or type and place, as one.
key(Index, N, Key) :- Key is Index * 1000000000 + N.

% --- the background ------------------------------------------------------------------

:- multifile user:message_hook/3.
user:message_hook(Term, error, Lines) :-
    nb_current(loading, true),
    andre_tabling:report(Term, Lines).

report(Term, Lines) :-
    (   Term = error(_, Where), nonvar(Where), Where = stream(_, Line, _, _) -> true
    ;   Term = error(_, Where), nonvar(Where), Where = file(_, Line, _, _) -> true
    ;   prolog_load_context(term_position, Position) -> stream_position_data(line_count, Position, Line)
    ;   Line = 0
    ),
    sentence(Lines, Sentence),
    count_up(reported, _),
    emit('e ~w ~w', [Line, Sentence]).

load(Background) :-
    set_prolog_flag(bg:double_quotes, atom),
    nb_setval(loading, true),
    setup_call_cleanup(
        open_string(Background, Stream),
        load_files(bg:background, [stream(Stream), sandboxed(true), silent(true)]),
        close(Stream)),
    nb_setval(loading, false),
    nb_getval(reported, 0),
    forall(to_table(P, Name, Types, _), ( length(Types, Arity), check_safe(P, Name, Arity) )),
    nb_getval(reported, 0).

% What nothing defines holds of nothing, as in any closed world: it is defined so, since
% the check ends where it meets such a predicate, and would not see what comes after it.
check_safe(P, Name, Arity) :-
    functor(Goal, Name, Arity),
    catch(safe_goal(bg:Goal), Error, true),
    (   var(Error) -> true
    ;   Error = error(existence_error(procedure, Missing), _), define(Missing) -> check_safe(P, Name, Arity)
    ;   phrase('$messages':translate_message(Error), Lines), sentence(Lines, Sentence),
        count_up(reported, _), emit('e 0 ~w/~w: ~w', [Name, Arity, Sentence])
    ).

define(Missing) :-
    strip_module(bg:Missing, bg, Goal), callable(Goal),
    ( Goal = Name/Arity -> true ; functor(Goal, Name, Arity) ),
    functor(Head, Name, Arity), \+ predicate_property(bg:Head, dynamic),
    dynamic(bg:Name/Arity), note(missing).

sentence(Lines, Sentence) :-
    with_output_to(string(Text), ( current_output(S), print_message_lines(S, '', Lines) )),
    split_string(Text, "\n\t ", "\n\t ", Words0), exclude(==(""), Words0, Words),
    atomic_list_concat(Words, ' ', Sentence).

% --- modes ---------------------------------------------------------------------------

find_modes :-
    forall(to_table(P, Name, Types, Directions),
           (   length(Types, Arity), maplist(type_index, Types, Indices),
               (   Directions == none -> guess_mode(Name, Indices, Mode)
               ;   maplist(way, Directions, Indices, Mode)
               ),
               (   Directions \== none, turned(Name, Mode, Back)
               ->  add_mode(P, Name/Arity, Back, back),
                   ( findall(0, member(in(_), Mode), [_, _|_]) -> Way = build ; Way = plain )
               ;   Way = plain
               ),
               add_mode(P, Name/Arity, Mode, Way)
           )).

add_mode(P, Key, Mode, Way) :-
    count_up(n_modes, M), assertz(mode_of(M, P, Key, Mode, Way)),
    findall(0, member(in(_), Mode), Zeros), assertz(done(M, Zeros)).

way(in, Index, in(Index)) :- !.
way(_, Index, out(Index)).

% turned(+Name, +Mode, -Back): given its outputs, it finds its inputs, a few. So what an answer
% is made from is had by taking it apart, rather than by building all that can be built.
turned(Name, Mode, Back) :-
    maplist(turn, Mode, Back),
    memberchk(in(_), Back), memberchk(out(_), Back),
    samples(50, Back, Samples), Samples \== [],
    limit_of(answers, Few),
    forall(member(Ids, Samples),
           (   solutions(Name, Back, Ids, Few, found(Found, whole)), ground(Found)
           ;   solutions(Name, Back, Ids, Few, failed(wrong))
           )),
    \+ \+ ( member(Some, Samples), solutions(Name, Back, Some, 1, found([_|_], _)) ).

turn(in(Index), out(Index)).
turn(out(Index), in(Index)).

% The first mode with the fewest inputs that neither lacks a binding nor leaves one open.
guess_mode(Name, Indices, Mode) :-
    length(Indices, Arity),
    (   between(0, Arity, Inputs), modes_with(Inputs, Indices, Mode), works(Name, Mode)
    ->  true
    ;   modes_with(Arity, Indices, Mode)
    ).

modes_with(0, Indices, Mode) :- !, findall(out(Index), member(Index, Indices), Mode).
modes_with(N, [Index|Indices], [in(Index)|Mode]) :- N > 0, N1 is N - 1, modes_with(N1, Indices, Mode).
modes_with(N, [Index|Indices], [out(Index)|Mode]) :- length(Indices, L), L >= N, modes_with(N, Indices, Mode).

works(Name, Mode) :-
    samples(200, Mode, Samples), Samples \== [],
    forall(member(Ids, Samples), leaves_nothing_open(Name, Mode, Ids, 100)),
    % Where nothing holds, a negation may have failed for want of a binding.
    \+ \+ ( member(Some, Samples), solutions(Name, Mode, Some, 1, found([_|_], _)) ),
    ( memberchk(in(_), Mode) -> true ; is_complete(Name, Mode) ).

% Few answers tell most modes that leave something open, of which there may be no end of longer ones.
leaves_nothing_open(Name, Mode, Ids, Most) :-
    solutions(Name, Mode, Ids, Most, Result),
    (   Result = found(Found, Whole)
    ->  ground(Found),
        ( Whole == whole -> true ; Most < 10000, leaves_nothing_open(Name, Mode, Ids, 10000) )
    ;   Result == failed(wrong)  % these terms are not of the kind that it is about
    ).

% With a cut or a negation, more may hold where an argument is bound than where none is.
is_complete(Name, Free) :-
    solutions(Name, Free, [], 10000, found(All, _)),
    forall(( select(out(Index), Free, in(Index), Mode), samples(30, Mode, Samples), member(Ids, Samples),
             solutions(Name, Mode, Ids, 100, found(Found, _)), member(Args, Found), ground(Args) ),
           memberchk(Args, All)).

% samples(+Most, +Mode, -Samples): inputs, about so many, spread over the terms of their types.
samples(Most, Mode, Samples) :-
    findall(Index, member(in(Index), Mode), Ins), length(Ins, N),
    Each is max(2, truncate(Most ** (1 / max(1, N)))),
    findall(Ids, sample(Ins, Each, Ids), Samples).

sample([], _, []).
sample([Index|Indices], Each, [Id|Ids]) :-
    type_size(Index, Size), Size > 0, Step is max(1, Size // Each), Last is (Size - 1) // Step,
    between(0, Last, K), N is K * Step, term_at(Index, N, Id),
    sample(Indices, Each, Ids).

% --- calls ---------------------------------------------------------------------------

% solutions(+Name, +Mode, +Ids, +Most, -Result): what holds with these inputs.
solutions(Name, Mode, Ids, Most, Result) :-
    bind(Mode, Ids, Args), answers(Name, Args, Most, Result).

% answers(+Name, +Args, +Most, -Result): found(Arguments of each, whole or more), or failed(Why).
answers(Name, Args, Most, Result) :-
    Goal =.. [Name|Args],
    limit_of(inferences, Inferences), More is Most + 1,
    catch(call_with_inference_limit(findall(Args, limit(More, bg:Goal), All), Inferences, How), Error, true),
    (   nonvar(Error) -> why(Error, Why), Result = failed(Why)
    ;   How == inference_limit_exceeded -> Result = failed(cut)
    ;   length(All, N), N > Most -> length(Some, Most), append(Some, _, All), Result = found(Some, more)
    ;   Result = found(All, whole)
    ).

bind([], [], []).
bind([in(_)|Mode], [Id|Ids], [Term|Args]) :- term_of(Id, Term), bind(Mode, Ids, Args).
bind([out(_)|Mode], Ids, [_|Args]) :- bind(Mode, Ids, Args).

why(stop(Why), _) :- throw(stop(Why)).
why(error(instantiation_error, _), unbound) :- !.
why(error(type_error(_, Culprit), _), unbound) :- var(Culprit), !.
why(error(resource_error(_), _), cut) :- !.
why(_, wrong).

% call_all(+M, +Ids): add what holds with these inputs.
call_all(M, Ids) :- mode_of(M, _, _, _, build), deepest(Ids, Depth), Depth > 0, !.
call_all(M, Ids) :-
    count_up(n_called, N),
    ( N mod 64 =:= 0 -> check_time ; true ),
    mode_of(M, P, Name/_, Mode, Way),
    ( Ids == [] -> limit_of(facts, Most) ; limit_of(solutions, Most) ),  % of no inputs it is the only call
    solutions(Name, Mode, Ids, Most, Result),
    (   Result = found(Found, Whole)
    ->  ( Whole == more -> note(cut) ; true ),
        (   Found == [] -> true
        ;   deepest(Ids, Depth), forall(member(Args, Found), add_fact(P, Mode-Way, Args, Ids, Depth))
        )
    ;   Result = failed(Why), Why == cut -> note(cut)
    ;   true
    ).

check_time :- get_time(Now), nb_getval(deadline, Deadline), ( Now > Deadline -> throw(stop(seconds)) ; true ).

deepest([], 0).
deepest([Id|Ids], Depth) :- deepest(Ids, Rest), depth_of(Id, One), Depth is max(One, Rest).

add_fact(P, Mode-Way, Args, Ins, Depth) :-
    (   \+ ground(Args) -> note(open)
    ;   findall(Input, ( nth0(N, Mode, in(_)), nth0(N, Args, Input), compound(Input) ), Wholes),
        depths(Mode, Args, Wholes-Way, Depth, Depths)
    ->  add_args(Mode, Args, Depths, Ids), add_ids(P, Ids, Ins)
    ;   note(beyond)
    ).

add_ids(P, Ids, Ins) :-
    nb_getval(facts, Facts), Fact =.. [f, P|Ids],
    (   trie_insert(Facts, Fact, true)
    ->  count_up(n_facts, N), limit_of(facts, Most),
        ( N >= Most -> throw(stop(facts)) ; true ),
        atomic_list_concat(Ids, ' ', Text), emit('f ~w ~w', [P, Text]),
        forall(( member(From, Ins), member(To, Ids), From \== To ), add_step(From, To))
    ;   true
    ).

add_step(From, To) :- ( step(From, To) -> true ; assertz(step(From, To)) ).

% depths(+Mode, +Args, +Wholes, +Depth, -Depths): how deep each argument lies; fails where one lies too deep.
depths([], [], _, _, []).
depths([_|Mode], [Arg|Args], Wholes, Depth, [New|Depths]) :-
    depth_at(Arg, Wholes, Depth, New), limit_of(depth, Most), New =< Most,
    depths(Mode, Args, Wholes, Depth, Depths).

% A part of an input, a whole number in the range of the given ones, and what has the form of an
% input and such numbers in it, is no step farther; nor is, where outputs are taken apart, less than them.
depth_at(Arg, _, _, Depth) :- nb_getval(terms, Terms), trie_lookup(Terms, Arg, Id), !, depth_of(Id, Depth).
depth_at(Arg, _, Depth, Depth) :- integer(Arg), nb_getval(range, Low-High), Low =< Arg, Arg =< High, !.
depth_at(Arg, Wholes-_, Depth, Depth) :- member(Whole, Wholes), sub_term(Part, Whole), Part == Arg, !.
depth_at(Arg, Wholes-_, Depth, Depth) :- member(Whole, Wholes), moved(Whole, Arg), !.
depth_at(Arg, Wholes-back, Depth, Depth) :- size(Arg, N), member(Whole, Wholes), size(Whole, Most), N < Most, !.
depth_at(_, _, Depth, New) :- New is Depth + 1.

% moved(+Term, +Other): the same but for whole numbers in the range of the given ones.
moved(Term, Other) :-
    compound(Other), \+ is_list(Other), compound_name_arguments(Term, Name, Args),
    compound_name_arguments(Other, Name, Others), maplist(moved_to, Args, Others).

moved_to(Arg, Other) :- Arg == Other, !.
moved_to(Arg, Other) :- integer(Arg), integer(Other), nb_getval(range, Low-High), Low =< Other, Other =< High.

% The number of parts of a term.
size(Term, Size) :- compound(Term), !, compound_name_arguments(Term, _, Args), foldl(add_size, Args, 1, Size).
size(_, 1).

add_size(Arg, Before, After) :- size(Arg, Size), After is Before + Size.

add_args([], [], [], []).
add_args([Way|Mode], [Arg|Args], [Depth|Depths], [Id|Ids]) :-
    arg(1, Way, Index),
    nb_getval(n_terms, Before),
    add_term(Arg, Depth, Id),
    (   Id >= Before
    ->  emit_term(Arg), limit_of(terms, Most), nb_getval(given, Given),
        ( Before - Given >= Most -> throw(stop(terms)) ; true )
    ;   true
    ),
    add_type(Index, Id), add_to_any(Id),
    add_args(Mode, Args, Depths, Ids).

add_to_any(Id) :- type_index(any, Index), add_type(Index, Id).

% --- expansion -----------------------------------------------------------------------

% Call every predicate with what is new, until nothing is; where inputs are too many to
% combine them all, only within the reach of one example, when all else is done.
expand :-
    (   extend_any(\=(build)) -> expand
    ;   extend_any(==(build)) -> expand
    ;   limit_of(depth, Depth), nb_getval(passes, Passes), Passes > Depth -> true
    ;   findall(M, ( mode_of(M, _, _, _, Way), Way \== build, is_vast(M) ), Vast), Vast \== []
    ->  count_up(passes, _), nb_getval(n_facts, Before),
        combine_by_examples(Vast),
        nb_getval(n_facts, After),
        ( After > Before -> expand ; true )
    ;   true
    ).

% extend_any(:Which): call the predicates in the ways that this holds of; fails where nothing is new.
extend_any(Which) :-
    findall(M, ( mode_of(M, _, _, _, Way), call(Which, Way) ), Ms),
    findall(M, ( member(M, Ms), extend(M) ), [_|_]).

extend(M) :-
    inputs(M, Ins), done(M, Before),
    ( Ins == [] -> Sizes = called ; maplist(type_size, Ins, Sizes) ),
    Sizes \== Before, \+ is_vast(M),
    retract(done(M, Before)), assertz(done(M, Sizes)),
    ( Ins == [] -> call_all(M, []) ; forall(new_combination(Ins, Before, Sizes, Ids), call_all(M, Ids)) ).

inputs(M, Ins) :- mode_of(M, _, _, Mode, _), findall(Index, member(in(Index), Mode), Ins).

is_vast(M) :-
    inputs(M, Ins), Ins = [_, _|_],
    maplist(type_size, Ins, Sizes), product(Sizes, Product),
    ( mode_of(M, _, _, _, build) -> limit_of(built, Most) ; limit_of(combinations, Most) ),
    Product > Most.

product([], 1).
product([N|Ns], Product) :- product(Ns, Rest), Product is N * Rest.

% Combinations in which at least one term is new: the first new one stands at each place in turn.
new_combination([Index|Ins], [Old|Before], [Size|Sizes], [Id|Ids]) :-
    (   between_below(Old, Size, N), term_at(Index, N, Id), combination(Ins, Sizes, Ids)
    ;   between_below(0, Old, N), term_at(Index, N, Id), new_combination(Ins, Before, Sizes, Ids)
    ).

combination([], [], []).
combination([Index|Ins], [Size|Sizes], [Id|Ids]) :-
    between_below(0, Size, N), term_at(Index, N, Id), combination(Ins, Sizes, Ids).

between_below(Low, High, N) :- Last is High - 1, between(Low, Last, N).

combine_by_examples(Vast) :-
    trie_new(Tried),
    limit_of(combinations, Most), nb_getval(n_called, Start), Last is Start + 4 * Most,
    (   example(Ids), reach(Ids, Reached), member(M, Vast),
        inputs(M, Ins), choose(Ins, Reached, Inputs),
        Call =.. [c, M|Inputs], trie_insert(Tried, Call, true),
        nb_getval(n_called, N), ( N > Last -> ! , note(cut) ; true ),
        call_all(M, Inputs), fail
    ;   true
    ).

choose([], _, []).
choose([Index|Ins], Reached, [Id|Ids]) :-
    member(Id, Reached), key(Index, Id, Key), typed(Key), choose(Ins, Reached, Ids).

% The terms that steps lead to from the terms of an example, no more than a limit says.
reach(Ids, Reached) :- limit_of(reach, Most), reach(Ids, Ids, Most, Reached).

reach([], Seen, _, Seen) :- !.
reach(Front, Seen, Most, Reached) :-
    findall(To, ( member(From, Front), step(From, To) ), All0), sort(All0, All), sort(Seen, Old),
    ord_subtract(All, Old, New), append(Seen, New, Seen1), length(Seen1, N),
    ( N >= Most -> length(Reached, Most), append(Reached, _, Seen1) ; reach(New, Seen1, Most, Reached) ).

% --- canonical text ------------------------------------------------------------------

emit_term(Term) :-
    nb_getval(out, Out), write(Out, 't '), spell(Term, Out), nl(Out).

spell(Term, Out) :- ( integer(Term) ; float(Term) ), !, write(Out, Term).
spell([], Out) :- !, write(Out, '[]').
spell(Term, Out) :- atomic(Term), !, format(atom(Name), '~w', [Term]), spell_name(Name, Out).
spell(Term, Out) :- is_list(Term), !, write(Out, '['), spell_all(Term, Out), write(Out, ']').
spell(Term, Out) :-
    compound_name_arguments(Term, Name, Args),
    spell_name(Name, Out), write(Out, '('), spell_all(Args, Out), write(Out, ')').

spell_all([], _).
spell_all([One], Out) :- !, spell(One, Out).
spell_all([One|More], Out) :- spell(One, Out), write(Out, ','), spell_all(More, Out).

spell_name(Name, Out) :-
    atom_codes(Name, Codes),
    (   Codes = [First|Rest], between(0'a, 0'z, First), maplist(plain, Rest) -> write(Out, Name)
    ;   write(Out, ''''), maplist(spell_code(Out), Codes), write(Out, '''')
    ).

plain(0'_) :- !.
plain(C) :- between(0'a, 0'z, C), !.
plain(C) :- between(0'A, 0'Z, C), !.
plain(C) :- between(0'0, 0'9, C).

spell_code(Out, 0'\\) :- !, write(Out, '\\\\').
spell_code(Out, 0'') :- !, write(Out, '\\''').
spell_code(Out, 0'\n) :- !, write(Out, '\\n').
spell_code(Out, 0'\t) :- !, write(Out, '\\t').
spell_code(Out, 0'\r) :- !, write(Out, '\\r').
spell_code(Out, C) :-
    (   C < 0x20 ; C >= 0x7f, C < 0xa0 ; C =:= 0x2028 ; C =:= 0x2029 ), !,
    format(Out, '\\x~16r\\', [C]).
spell_code(Out, C) :- char_code(Char, C), put_char(Out, Char).
