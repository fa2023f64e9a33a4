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

  /* How wide a text of the drawing is; bold ones are a little wider. */
  const pen = document.createElement("canvas").getContext("2d");
  const LETTERS = "13px system-ui, sans-serif", LINE = 17, PAD = 10;
  const wide = (text) => ((pen.font = LETTERS), pen.measureText(text).width * 1.08 + 2);

  /* A text in lines that are narrow enough, broken after signs that part words, or anywhere. */
  function lines(text, most) {
    const found = [""];
    for (const word of text.match(/[^_\s\-/.,]*[_\s\-/.,]?/g).filter(Boolean)) {
      if (found.at(-1) && wide(found.at(-1) + word) > most) found.push("");
      for (const letter of word) {
        if (found.at(-1) && wide(found.at(-1) + letter) > most) found.push("");
        found[found.length - 1] += letter;
      }
    }
    return found;
  }

  /* What a grounding consists of: terms with what is said of each alone, links between two, and others. */
  function parts(rule, terms, values) {
    const names = [], roles = [], tags = [], links = [], boxes = [], told = [];
    const node = (arg) => {
      const name = typeof arg === "number" ? terms[arg] : arg;
      let place = names.indexOf(name);
      if (place < 0) { place = names.push(name) - 1; roles.push(new Set()); tags.push([]); }
      if (typeof arg === "number" && rule.variables[arg] !== name) roles[place].add(rule.variables[arg]);
      return place;
    };
    const literals = [[...rule.head, false, false, undefined, "head"], ...rule.body.map((literal, place) => [...literal, values[place], ""])];
    for (const [predicate, args, negated, compares, value, head] of literals) {
      if (compares) continue; /* that two terms differ can be seen */
      const sure = value === undefined || value === null || value === 1 || value === 0;
      const text = (negated ? "not " : "") + predicate + (sure ? "" : ` ${value}`), kind = head || (negated ? "no" : "");
      const ends = args.map(node);
      told.push(`${text}(${ends.map((end) => names[end]).join(", ")})`);
      if (ends.length > 2) boxes.push({ text, kind, ends });
      else if (ends.length === 2 && ends[0] !== ends[1]) links.push({ text, kind, ends });
      else if (ends.length) tags[ends[0]].push([ends.length === 2 ? `${text} itself` : text, kind]);
    }
    const items = names.map((name, place) => ({ name: ([...roles[place]].join(" = ") + (roles[place].size ? ": " : "")) + name, tags: tags[place], whole: name }));
    boxes.forEach((box, place) => {
      items.push({ box, name: box.text, tags: box.ends.map((end, at) => [`${at + 1}: ${[...roles[end]][0] || names[end]}`, ""]), whole: box.text });
      box.ends.forEach((end, at) => links.push({ text: "", kind: box.kind, ends: [end, names.length + place], at }));
    });
    return { items, links, told: told.join(", ") };
  }

  /* The order from top to bottom in which what is linked stands close; the first that does, of few all orders. */
  function order(n, links) {
    const places = [...Array(n).keys()];
    if (n > 7) return places;
    let best = places, least = Infinity;
    const go = (done, left) => {
      if (!left.length) {
        /* The head is what the others lead to, so that they come closer. */
        const far = ({ ends: [a, b], kind }) => (kind === "head" ? 0.5 : 1) * (Math.abs(done.indexOf(a) - done.indexOf(b)) - 0.5) ** 1.5;
        const cost = links.reduce((sum, link) => sum + far(link), 0);
        if (cost < least - 1e-9) [best, least] = [done, cost];
      }
      for (const one of left) go([...done, one], left.filter((other) => other !== one));
    };
    go([], places);
    return best;
  }

  /* A grounding: terms below each other, what links neighbours between them, what links others on their right.
     Every text has lines of its own, so that none can cover another, however long names are. */
  function graph(rule, terms, values, room) {
    const { items, links, told } = parts(rule, terms, values);
    const stack = order(items.length, links), rank = stack.map((_, place) => stack.indexOf(place));
    for (const link of links) {
      link.down = rank[link.ends[0]] < rank[link.ends[1]];
      [link.top, link.end] = link.ends.map((end) => rank[end]).sort((a, b) => a - b);
    }
    /* Of the links between two neighbours one is drawn straight; all others have a lane on the right. */
    const straight = stack.map((_, place) => links.find((link) => link.text && link.top === place && link.end === place + 1));
    const bent = links.filter((link) => !straight.includes(link)).sort((a, b) => a.end - a.top - (b.end - b.top));
    const lanes = [];
    for (const link of bent) {
      let lane = lanes.findIndex((taken) => taken.every((other) => link.end < other.top || other.end < link.top));
      if (lane < 0) lane = lanes.push([]) - 1;
      lanes[lane].push(link);
      link.lane = lane;
    }
    const step = lanes.length > 6 ? 9 : 14, most = Math.max(120, room - lanes.length * step - 40);
    const blocks = stack.map((item) => {
      const { name, tags, box, whole } = items[item];
      const rows = [...lines(name, most - 2 * PAD).map((text) => [text, box ? box.kind : "", ""]), ...tags.flatMap(([text, kind]) => lines(text, most - 2 * PAD).map((line) => [line, kind, "tag"]))];
      return { rows, box, whole, width: Math.max(36, ...rows.map(([text]) => wide(text))) + 2 * PAD, height: rows.length * LINE + 10, lead: rows.length - tags.length };
    });
    let y = 4, inner = Math.max(...blocks.map((block) => block.width));
    blocks.forEach((block, place) => {
      block.y = y;
      y += block.height;
      block.labels = links.filter((link) => link.text && link.top === place).map((link) => {
        link.label = lines(link.text, most - (link === straight[place] ? 34 : 0));
        inner = Math.max(inner, (link === straight[place] ? 34 : 0) + Math.max(...link.label.map(wide)));
        return link;
      });
      if (place < blocks.length - 1) y += 14 + block.labels.reduce((sum, link) => sum + link.label.length, 0) * LINE;
    });
    const first = 2 + inner + 20, width = Math.ceil(first + lanes.length * step + 4), height = Math.ceil(y + 4);
    const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "graph" });
    picture.setAttribute("aria-label", `Grounding: ${told}`);
    picture.append(draw("title", {}, told));
    /* Where lanes leave a block they have places of their own on its right side. */
    const used = blocks.map((block, place) => ({ n: bent.filter((link) => link.top === place || link.end === place).length, next: 0 }));
    const port = (place, link) => {
      const block = blocks[place];
      if (block.box && link.at !== undefined && stack[place] === link.ends[1]) return block.y + 5 + (block.lead + link.at + 0.5) * LINE;
      return block.y + (block.height * ++used[place].next) / (used[place].n + 1);
    };
    for (const link of bent) {
      const x = first + link.lane * step, [one, two] = [link.top, link.end].map((place) => [2 + blocks[place].width, port(place, link)]);
      picture.append(draw("path", { class: `edge ${link.kind}`, d: `M${one} H${x} V${two[1]} H${two[0]}` }));
      if (link.text) tip(picture, link.down ? two : one, 180, link.kind);
      link.x = x;
    }
    blocks.forEach((block, place) => {
      const link = straight[place], bottom = block.y + block.height, next = blocks[place + 1];
      if (link) {
        picture.append(draw("path", { class: `edge ${link.kind}`, d: `M26,${bottom} V${next.y}` }));
        tip(picture, [26, link.down ? next.y : bottom], link.down ? 90 : -90, link.kind);
      }
      picture.append(draw("rect", { class: `node ${block.box ? `box ${block.box.kind}` : ""}`, x: 2, y: block.y, width: block.width, height: block.height, rx: block.box ? 3 : 13 }));
      block.rows.forEach(([text, kind, what], row) => {
        const line = draw("text", { class: `${what} ${kind}`, x: 2 + PAD, y: block.y + 5 + row * LINE + 13 }, text);
        line.append(draw("title", {}, block.whole));
        picture.append(line);
      });
      let at = bottom + 7 + 13;
      for (const one of block.labels) {
        for (const text of one.label) {
          const where = one === link ? { x: 36 } : { x: one.x - 8, "text-anchor": "end" };
          picture.append(draw("text", { ...where, y: at, class: `label ${one.kind}` }, text));
          at += LINE;
        }
      }
    });
    return picture;
  }

  /* The tip of an arrow that ends here. */
  function tip(picture, [x, y], turn, kind) {
    picture.append(draw("path", { class: `tip ${kind}`, d: "M-9,-5 L0,0 L-9,5 Z", transform: `translate(${x},${y}) rotate(${turn})` }));
  }

  const PAGE = 50; /* predictions that are listed at a time */
  const figure = (number) => number.toLocaleString("en");

  function show(panel, rule, number) {
    const title = make("h3", {}, `Rule ${number + 1} derives`);
    panel.hidden = false;
    if (!rule.rows.length) {
      panel.replaceChildren(title, make("p", { class: "hint" }, rule.left ? `${figure(rule.left)} examples, none of them listed.` : "No predictions are listed: it derives nothing new, or the data was not at hand."));
      return;
    }
    if (rule.rows.some((row) => row[1] === 0) && rule.rows.some((row) => row[1])) title.append(make("span", { class: "quiet" }, ", what it is wrong about first"));
    const list = make("ul", { class: "rows", "aria-label": `Predictions of rule ${number + 1}` });
    const picture = make("div", { class: "grounding", "aria-live": "polite" });
    const more = rule.left ? [make("p", { class: "hint" }, `${figure(rule.left)} more are not in this page: andre predict lists all.`)] : [];
    const find = make("div", { class: "find" });
    panel.replaceChildren(title, make("div", { class: "split" }, make("div", {}, find, list, ...more), picture));
    let buttons = [], chosen = null, page = 0, asked = "";
    const explain = () => {
      const [text, , , , terms, values] = chosen;
      /* Rules about the columns of a table have no terms to draw. */
      const ofRow = !rule.variables.length && rule.body.every(([, args, , compares]) => compares || !args.length);
      const told = ofRow ? chips(rule, values) : graph(rule, terms.length ? terms : rule.variables, values, picture.clientWidth || 320);
      const unexplained = rule.variables.length && !terms.length;
      picture.replaceChildren(told, ...(unexplained ? [make("p", { class: "hint" }, `Why this rule derives it is not in this page: andre explain RUN FACTS "${text}" says it.`)] : []));
    };
    panel.redraw = explain;
    const fill = () => {
      const rows = asked ? rule.rows.filter(([text]) => text.toLowerCase().includes(asked)) : rule.rows;
      page = Math.max(0, Math.min(page, Math.ceil(rows.length / PAGE) - 1));
      const shown = rows.slice(page * PAGE, (page + 1) * PAGE);
      buttons = shown.map((row) => entry(row, (button) => { press(buttons, button); chosen = row; explain(); }));
      list.replaceChildren(...buttons.map((button) => make("li", {}, button)));
      pages.textContent = rows.length ? `${figure(page * PAGE + 1)}–${figure(page * PAGE + shown.length)} of ${figure(rows.length)}` : "none";
      back.disabled = !page;
      on.disabled = (page + 1) * PAGE >= rows.length;
      if (buttons.length) buttons[0].click();
    };
    const search = make("input", { type: "search", placeholder: "find a name", "aria-label": `Find among the predictions of rule ${number + 1}` });
    const turn = (text, by, name) => {
      const button = make("button", { type: "button", "aria-label": name }, text);
      button.addEventListener("click", () => { page += by; fill(); });
      return button;
    };
    const pages = make("span", { class: "quiet", role: "status" }), back = turn("‹", -1, "Page before"), on = turn("›", 1, "Next page");
    search.addEventListener("input", () => { asked = search.value.trim().toLowerCase(); page = 0; fill(); });
    if (rule.rows.length > 8) find.append(search);
    if (rule.rows.length > PAGE) find.append(back, on);
    find.append(pages);
    list.addEventListener("keydown", (event) => walk(event, buttons));
    fill();
  }

  /* A prediction in the list. */
  function entry([text, holds, chance, split], choose) {
    const mark = holds === null ? ["", "not known"] : holds ? ["good", "true ✓"] : ["bad", "false ✗"];
    const button = make("button", { type: "button", "aria-pressed": "false" }, make("code", {}, text));
    const small = [split, chance === null || chance === 1 ? "" : `p ${chance}`].filter(Boolean).join(" · ");
    if (small) button.append(make("small", {}, small));
    button.append(make("span", { class: `mark ${mark[0]}` }, mark[1]));
    button.addEventListener("click", () => choose(button));
    return button;
  }

  for (const section of document.querySelectorAll(".program[data-target]")) {
    const rules = predictions[Number(section.dataset.target)];
    const panel = section.querySelector(".predictions");
    const buttons = [...section.querySelectorAll("button.rule")];
    for (const button of buttons) {
      const row = button.closest("tr");
      row.addEventListener("click", (event) => {
        press(buttons, button);
        for (const other of buttons) other.closest("tr").classList.toggle("chosen", other === button);
        show(panel, rules[Number(button.dataset.rule)], Number(button.dataset.rule));
        if (event.isTrusted) panel.scrollIntoView({ block: "nearest" });
      });
    }
    section.addEventListener("keydown", (event) => walk(event, buttons));
    if (buttons.length && section.dataset.target === "0") buttons[0].closest("tr").click();
  }

  /* Drawings are as wide as there is room. */
  addEventListener("resize", () => {
    for (const panel of document.querySelectorAll(".predictions")) if (panel.redraw && !panel.hidden) panel.redraw();
  });

  /* A link to a target opens it, also when it was followed before and the target closed since. */
  const open = (hash) => {
    const target = hash && document.getElementById(hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", () => open(link.hash));
  addEventListener("hashchange", () => open(location.hash));
  open(location.hash);
})();
