"use strict";
(() => {
  const predictions = JSON.parse(document.getElementById("predictions").textContent);
  const SVG = "http://www.w3.org/2000/svg"; /* a name, not an address */

  /* An element with attributes and children; text is never read as markup. */
  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function draw(name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const short = (text, most) => (text.length <= most ? text : text.slice(0, most - 1) + "…");

  /* Arrow keys, Home and End go from button to button. */
  function walk(event, buttons) {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    const at = buttons.indexOf(document.activeElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(buttons.length - 1, at + step))].focus();
  }

  function press(buttons, chosen) {
    for (const button of buttons) button.setAttribute("aria-pressed", button === chosen);
  }

  /* A literal with its terms put in, as text. */
  function spell([predicate, args, negated, compares], terms) {
    const names = args.map((arg) => (typeof arg === "number" ? terms[arg] : arg));
    if (compares && names.length === 2) return `${negated ? "\\+ " : ""}${names[0]} ${predicate} ${names[1]}`;
    const inner = names.length ? `(${names.join(", ")})` : "";
    return (negated ? "\\+ " : "") + predicate + inner;
  }

  /* The literals of a body without variables, each with the value it had. */
  function chips(rule, values) {
    const list = make("ul", { class: "chips", "aria-label": "Literals of the body" });
    rule.body.forEach((literal, place) => {
      const value = values[place];
      const text = value === undefined ? "" : value === null ? "unknown" : String(value);
      list.append(make("li", { class: literal[2] ? "chip no" : "chip" }, spell(literal, rule.variables), make("span", {}, text)));
    });
    return list;
  }

  /* A grounding as a graph: terms are nodes, literals are edges, the head is the thick one. */
  function graph(rule, terms, values) {
    const names = [];
    const roles = [];
    const node = (arg) => {
      const name = typeof arg === "number" ? terms[arg] : arg;
      let place = names.indexOf(name);
      if (place < 0) place = names.push(name) - 1;
      roles[place] = roles[place] || new Set();
      if (typeof arg === "number" && rule.variables[arg] !== name) roles[place].add(rule.variables[arg]);
      return place;
    };
    const edges = [[...rule.head, false, "head", undefined], ...rule.body.flatMap(([predicate, args, negated, compares], place) =>
      compares ? [] : [[predicate, args, negated, "", values[place]]])] /* that two nodes differ can be seen */
      .map(([predicate, args, negated, kind, value]) => ({
        text: (negated ? "not " : "") + predicate + (value === undefined || value === null || value === 1 || value === 0 ? "" : ` ${value}`),
        ends: args.map(node), kind: kind || (negated ? "no" : ""),
      }));
    /* The head's terms stand below, left and right; the others on an arc above them. */
    const width = 360, height = names.length > 2 ? 250 : 150, cx = width / 2, base = height - 55;
    const others = Math.max(1, names.length - 2);
    const at = names.map((_, place) => {
      if (names.length === 1) return [cx, base - 20];
      if (place < 2) return [place ? width - 70 : 70, base];
      const angle = (Math.PI * (place - 1)) / (others + 1);
      return [cx - Math.cos(angle) * 120, base + 20 - Math.sin(angle) * 175];
    });
    const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "graph" });
    const told = edges.map((edge) => `${edge.text}(${edge.ends.map((end) => names[end]).join(", ")})`).join(", ");
    picture.setAttribute("aria-label", `Grounding: ${told}`);
    picture.append(draw("title", {}, told));
    const labels = [], below = names.map(() => 0), between = {};
    for (const edge of edges) {
      const [from, to] = edge.ends;
      if (edge.ends.length === 2 && from !== to) {
        /* Edges between the same two nodes bend apart. */
        const key = [Math.min(from, to), Math.max(from, to)].join();
        const turn = (between[key] = (between[key] ?? -1) + 1);
        const bend = (turn % 2 ? -1 : 1) * Math.ceil(turn / 2) * 46 * (from < to ? 1 : -1);
        arrow(picture, labels, at[from], at[to], bend, edge);
      } else if (edge.ends.length) {
        for (const end of new Set(edge.ends)) {
          const [x, y] = at[end];
          labels.push([edge.ends.length > 2 ? `${edge.text}/${edge.ends.length}` : edge.text, x, y + 30 + 13 * below[end]++, edge.kind]);
        }
      }
    }
    names.forEach((name, place) => {
      const [x, y] = at[place];
      const role = [...roles[place]].join(" = ");
      const shown = (role ? `${role}: ` : "") + short(name, 18), half = Math.max(18, 3.2 * shown.length + 8);
      const left = Math.max(half + 1, Math.min(width - half - 1, x));
      picture.append(draw("rect", { class: "node", x: left - half, y: y - 13, width: 2 * half, height: 26, rx: 13 }));
      const text = draw("text", { x: left, y: y + 4, class: "mid" }, shown);
      text.append(draw("title", {}, name));
      picture.append(text);
    });
    for (const [text, x, y, kind] of labels) picture.append(draw("text", { x, y, class: `label mid ${kind}` }, short(text, 34)));
    return picture;
  }

  function arrow(picture, labels, [x1, y1], [x2, y2], bend, edge) {
    const length = Math.hypot(x2 - x1, y2 - y1), ux = (x2 - x1) / length, uy = (y2 - y1) / length;
    const mx = (x1 + x2) / 2 - uy * bend, my = (y1 + y2) / 2 + ux * bend;
    picture.append(draw("path", { class: `edge ${edge.kind}`, d: `M${x1},${y1} Q${mx},${my} ${x2},${y2}` }));
    /* The tip sits two thirds of the way, where no node covers it. */
    const s = 0.66, tx = (1 - s) ** 2 * x1 + 2 * s * (1 - s) * mx + s * s * x2, ty = (1 - s) ** 2 * y1 + 2 * s * (1 - s) * my + s * s * y2;
    const dx = 2 * (1 - s) * (mx - x1) + 2 * s * (x2 - mx), dy = 2 * (1 - s) * (my - y1) + 2 * s * (y2 - my);
    const turn = (Math.atan2(dy, dx) * 180) / Math.PI;
    picture.append(draw("path", { class: `tip ${edge.kind}`, d: "M-7,-5 L7,0 L-7,5 Z", transform: `translate(${tx},${ty}) rotate(${turn})` }));
    const l = 0.4, at = (from, middle, to) => (1 - l) ** 2 * from + 2 * l * (1 - l) * middle + l * l * to;
    labels.push([edge.text, at(x1, mx, x2), at(y1, my, y2) - 4, edge.kind]);
  }

  function show(panel, rule, number) {
    const title = make("h3", {}, `Rule ${number + 1} derives`);
    if (!rule.rows.length) {
      panel.replaceChildren(title, make("p", { class: "hint" }, rule.left ? `${rule.left} examples, none of them listed.` : "No predictions are listed: the data was not at hand."));
      panel.hidden = false;
      return;
    }
    const list = make("ul", { class: "rows", "aria-label": `Predictions of rule ${number + 1}` });
    const picture = make("div", { class: "grounding", "aria-live": "polite" });
    const buttons = rule.rows.map(([text, holds, chance, split, terms, values]) => {
      const mark = holds === null ? ["", "open"] : holds ? ["good", "true ✓"] : ["bad", "false ✗"];
      const button = make("button", { type: "button", "aria-pressed": "false" }, make("code", {}, text));
      const small = [split, chance === null ? "" : `p ${chance}`].filter(Boolean).join(" · ");
      if (small) button.append(make("small", {}, small));
      button.append(make("span", { class: `mark ${mark[0]}` }, mark[1]));
      button.addEventListener("click", () => {
        press(buttons, button);
        const bound = terms.length ? terms : rule.variables;
        /* Rules about the columns of a table have no terms to draw. */
        const ofRow = !rule.variables.length && rule.body.every(([, args, , compares]) => compares || !args.length);
        picture.replaceChildren(ofRow ? chips(rule, values) : graph(rule, bound, values));
      });
      list.append(make("li", {}, button));
      return button;
    });
    list.addEventListener("keydown", (event) => walk(event, buttons));
    if (rule.rows.some((row) => row[1] === 0) && rule.rows.some((row) => row[1])) title.append(make("span", { class: "quiet" }, ", what it is wrong about first"));
    const more = rule.left ? [make("p", { class: "hint" }, `${rule.left.toLocaleString("en")} more are not listed.`)] : [];
    panel.replaceChildren(title, make("div", { class: "split" }, make("div", {}, list, ...more), picture));
    panel.hidden = false;
    buttons[0].click();
  }

  for (const section of document.querySelectorAll(".program[data-target]")) {
    const rules = predictions[Number(section.dataset.target)];
    const panel = section.querySelector(".predictions");
    const buttons = [...section.querySelectorAll("button.rule")];
    for (const button of buttons) {
      const row = button.closest("tr");
      row.addEventListener("click", () => {
        press(buttons, button);
        for (const other of buttons) other.closest("tr").classList.toggle("chosen", other === button);
        show(panel, rules[Number(button.dataset.rule)], Number(button.dataset.rule));
      });
    }
    section.addEventListener("keydown", (event) => walk(event, buttons));
    if (buttons.length && section.dataset.target === "0") buttons[0].closest("tr").click();
  }

  /* A link to a target opens it, also when it was followed before and the target closed since. */
  const open = (hash) => {
    const target = hash && document.getElementById(hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", () => open(link.hash));
  addEventListener("hashchange", () => open(location.hash));
  open(location.hash);
})();
