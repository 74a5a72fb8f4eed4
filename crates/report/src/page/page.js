// Makes the page that pathmeter wrote interactive: tables sort and filter, rows open, the heat map
// is shown relative to any kernel, call trees are drawn. All that comes from the data is text
// (textContent), never markup. Nothing is fetched.
"use strict";
document.documentElement.className = "js";
document.addEventListener("DOMContentLoaded", () => {
	const SVG = "http://www.w3.org/2000/svg";
	const data = JSON.parse(document.getElementById("data").textContent);
	const all = (selector, within = document) => [...within.querySelectorAll(selector)];
	const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
	const signed = (number) =>
		(number > 0 ? "+" : number < 0 ? "-" : "") + grouped(Math.abs(number));

	// An element with these children; strings become text.
	const make = (name, about = {}, ...children) => {
		const element = document.createElement(name);
		for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
		element.append(...children);
		return element;
	};
	const draw = (name, about, ...children) => {
		const element = document.createElementNS(SVG, name);
		for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
		element.append(...children);
		return element;
	};

	// The limits of the shades are those by which the page was written.
	const shades = document.body.dataset.shades.split(" ").map(Number);
	const strength = (percent) => 1 + shades.filter((limit) => Math.abs(percent) >= limit).length;

	// Rows that open.
	for (const button of all("button.open")) {
		const detail = document.getElementById(button.getAttribute("aria-controls"));
		button.setAttribute("aria-expanded", "false");
		button.addEventListener("click", () => {
			const shown = detail.classList.toggle("shown");
			button.setAttribute("aria-expanded", String(shown));
			if (shown) all(".flame", detail).forEach(drawFlame);
		});
	}

	// Tables that are sorted by any column, and filtered by text and verdict.
	for (const table of all("table.sortable")) {
		const part = table.closest(".part");
		const bodies = [...table.tBodies];
		// Not those of the tables in what opens.
		const headings = [...table.tHead.rows[0].cells];
		const key = (body, column, kind) => {
			const cell = body.rows[0].cells[column];
			return kind === "number" ? Number(cell.dataset.value) : cell.textContent;
		};
		headings.forEach((heading, column) => {
			heading.firstElementChild.addEventListener("click", () => {
				const kind = heading.dataset.kind;
				// Numbers begin with the largest, and verdicts with the worst, which is 0.
				const verdict = heading.textContent === "verdict";
				const first = kind === "number" && !verdict ? "descending" : "ascending";
				const other = first === "ascending" ? "descending" : "ascending";
				const order = heading.getAttribute("aria-sort") === first ? other : first;
				for (const each of headings) each.removeAttribute("aria-sort");
				heading.setAttribute("aria-sort", order);
				const sign = order === "ascending" ? 1 : -1;
				const compared = (one, two) => (one < two ? -1 : one > two ? 1 : 0);
				const sorted = bodies
					.map((body) => [key(body, column, kind), body])
					.sort((one, two) => sign * compared(one[0], two[0]));
				table.append(...sorted.map(([, body]) => body));
			});
		});
		const input = part.querySelector(".tablebox .filter input");
		const told = part.querySelector(".tablebox .filter output");
		const chips = all(".chip", part);
		const filter = () => {
			const words = input.value.toLowerCase().split(/\s+/).filter((word) => word);
			const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
			const verdicts = pressed.map((chip) => chip.dataset.verdict);
			let shown = 0;
			for (const body of bodies) {
				const text = body.textContent.toLowerCase();
				const fits =
					words.every((word) => text.includes(word)) &&
					(verdicts.length === 0 || verdicts.includes(body.dataset.verdict));
				body.hidden = !fits;
				shown += fits;
			}
			told.textContent = shown === bodies.length ? "" : shown + " of " + bodies.length + " shown";
		};
		input.addEventListener("input", filter);
		for (const chip of chips) {
			chip.addEventListener("click", () => {
				const pressed = chip.getAttribute("aria-pressed") !== "true";
				chip.setAttribute("aria-pressed", String(pressed));
				filter();
			});
		}
	}

	// Arrow keys move among buttons; only one of them is reached by Tab.
	const roving = (buttons, next) => {
		buttons.forEach((button, at) => button.setAttribute("tabindex", at === 0 ? "0" : "-1"));
		const focus = (button) => {
			for (const each of buttons) each.setAttribute("tabindex", each === button ? "0" : "-1");
			button.focus();
		};
		for (const button of buttons) {
			button.addEventListener("keydown", (event) => {
				const target = next(button, event.key);
				if (!target) return;
				event.preventDefault();
				focus(target);
			});
		}
	};

	// Call trees: a row for each depth, each box as wide as what is below it.
	function drawFlame(figure) {
		if (figure.dataset.drawn) return;
		figure.dataset.drawn = "yes";
		const ROW = 18;
		const { two, nodes: flat } = data.flames[Number(figure.dataset.flame)];
		const nodes = [];
		const above = [];
		for (let at = 0; at < flat.length; at += 5) {
			const [depth, name, base, now, shade] = flat.slice(at, at + 5);
			const parent = depth > 0 ? above[depth - 1] : null;
			const own = Math.max(base, now);
			const node = { depth, name: data.names[name], own: [base, now], shade, parent, children: [] };
			Object.assign(node, { width: own, sums: [base, now] });
			if (parent) parent.children.push(node);
			above[depth] = node;
			nodes.push(node);
		}
		for (const node of [...nodes].reverse()) {
			if (!node.parent) continue;
			node.parent.width += node.width;
			node.sums.forEach((sum, side) => (node.parent.sums[side] += sum));
		}
		const roots = nodes.filter((node) => !node.parent);
		const whole = { width: roots.reduce((sum, node) => sum + node.width, 0), children: roots };
		const place = (parent, left) => {
			for (const node of parent.children) {
				node.left = left;
				left += node.width;
			}
		};
		place(whole, 0);
		for (const node of nodes) place(node, node.left);
		const wide = nodes.filter((node) => node.width > 0);
		const depth = wide.reduce((most, node) => Math.max(most, node.depth), 0) + 1;
		const svg = draw("svg", { height: depth * ROW, role: "group", "aria-label": "call tree" });
		const told = make("p", { class: "told", "aria-live": "polite" });
		const about = (node) => {
			const [base, now] = node.sums;
			if (!two) return node.name + ": " + grouped(base) + ", itself " + grouped(node.own[0]);
			const own = signed(node.own[1] - node.own[0]);
			const sums = grouped(base) + " → " + grouped(now) + " (" + signed(now - base) + ")";
			return node.name + ": " + sums + ", itself " + own;
		};
		const total = Math.max(whole.width, 1);
		for (const node of wide) {
			const percent = (100 * node.shade) / Math.max(node.own[0], 1);
			const side = node.shade > 0 ? "up" : "down";
			const shade = node.shade === 0 ? "" : side + Math.max(2, strength(percent));
			const change = two ? node.sums[1] - node.sums[0] : 0;
			const label = node.name + (change === 0 ? "" : " " + signed(change));
			node.box = draw(
				"svg",
				{ class: shade, height: ROW, y: node.depth * ROW, role: "button", "aria-label": about(node) },
				draw("rect", { width: "100%", height: "100%" }),
				draw("text", { x: 3, y: 13 }, label),
			);
			const tell = () => (told.textContent = about(node));
			node.box.addEventListener("mouseenter", tell);
			node.box.addEventListener("focus", tell);
			node.box.addEventListener("click", () => zoom(node));
			svg.append(node.box);
		}
		const zoom = (chosen) => {
			const left = chosen ? chosen.left : 0;
			const width = chosen ? chosen.width : total;
			for (const node of wide) {
				const inside = node.left + node.width > left && node.left < left + width;
				const begin = Math.max(node.left, left);
				const end = Math.min(node.left + node.width, left + width);
				node.box.setAttribute("display", inside ? "inline" : "none");
				node.box.setAttribute("x", (100 * (begin - left)) / width + "%");
				node.box.setAttribute("width", (100 * (end - begin)) / width + "%");
				// A letter or two of a name tell nothing.
				const legible = (end - begin) / width > 0.02;
				node.box.lastElementChild.setAttribute("display", legible ? "inline" : "none");
			}
			reset.hidden = !chosen || chosen.width === total;
		};
		const reset = make("button", { type: "button", class: "chip" }, "Show all");
		reset.addEventListener("click", () => zoom(null));
		const byBox = new Map(wide.map((node) => [node.box, node]));
		roving(wide.map((node) => node.box), (box, pressed) => {
			const node = byBox.get(box);
			const siblings = (node.parent || whole).children.filter((each) => each.box);
			const at = siblings.indexOf(node);
			const found = {
				ArrowUp: node.parent,
				ArrowDown: node.children.find((each) => each.box),
				ArrowLeft: siblings[at - 1],
				ArrowRight: siblings[at + 1],
			}[pressed];
			if (pressed === "Enter" || pressed === " ") {
				zoom(node);
				return node.box;
			}
			return found && found.box;
		});
		zoom(null);
		figure.append(svg, told, reset);
	}
	// Those of a recording by itself are in no row that opens.
	all(".flame").filter((figure) => !figure.closest(".detail")).forEach(drawFlame);

	// The heat map.
	const dialog = document.getElementById("difference");
	for (const box of all(".history")) {
		const history = data.histories[Number(box.dataset.history)];
		const select = box.querySelector("select");
		const input = box.querySelector("input");
		const told = box.querySelector("output");
		const rows = all(".heat tbody tr", box);
		const cells = rows.map((row) => all("button", row));
		const base = (kernel) =>
			select.value === "before" ? history.before[kernel] : Number(select.value);

		// Verdict letter and numbers of a path in two kernels.
		const numbers = new Map();
		const judged = (path, from, to) => {
			const pair = history.pairs[from][to];
			if (!numbers.has(pair)) {
				let at = 0;
				numbers.set(pair, [...pair.verdicts].map((letter) => {
					if (!"hlmtre".includes(letter)) return null;
					at += 2;
					return pair.numbers.slice(at - 2, at);
				}));
			}
			const values = [history.values[path][from], history.values[path][to]];
			const [old, now] = numbers.get(pair)[path] || values;
			return { letter: pair.verdicts[path], old, now };
		};
		// The class and the text of a cell, as the page's writer drew it.
		const drawn = (path, from, to) =>
			data.names[history.pairs[from][to].cells[path]].split(" ");
		const show = () => {
			cells.forEach((row, path) => row.forEach((button, kernel) => {
				const [shade, text] = drawn(path, base(kernel), kernel);
				button.className = "shade " + shade;
				button.textContent = text;
			}));
		};
		select.addEventListener("change", show);
		input.addEventListener("input", () => {
			const word = input.value.toLowerCase();
			let shown = 0;
			for (const row of rows) {
				const fits = row.cells[0].textContent.toLowerCase().includes(word);
				row.hidden = !fits;
				shown += fits;
			}
			told.textContent = shown === rows.length ? "" : shown + " of " + rows.length + " shown";
		});
		const at = new Map();
		cells.forEach((row, path) => row.forEach((button, kernel) => {
			at.set(button, [path, kernel]);
			button.addEventListener("click", () => open(path, kernel));
		}));
		roving(cells.flat(), (button, pressed) => {
			const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
			const step = steps[pressed];
			if (!step) return null;
			let [path, kernel] = at.get(button);
			do {
				path += step[0];
				kernel += step[1];
			} while (rows[path] && rows[path].hidden);
			return cells[path] && cells[path][kernel];
		});

		// Pairs of a name's place and a number, as a map.
		const paired = (flat) => {
			const map = new Map();
			for (let at = 0; at < flat.length; at += 2) map.set(data.names[flat[at]], flat[at + 1]);
			return map;
		};
		// A table of what differs between two maps, the most first.
		const differing = (title, heading, old, now) => {
			const keys = new Set([...old.keys(), ...now.keys()]);
			const changes = [...keys]
				.map((name) => [name, old.get(name) || 0, now.get(name) || 0])
				.filter(([, before, after]) => before !== after)
				.sort((one, two) => Math.abs(two[2] - two[1]) - Math.abs(one[2] - one[1]));
			const row = ([name, before, after]) =>
				make("tr", {},
					make("th", { scope: "row" }, name),
					make("td", { class: "n" }, grouped(before)),
					make("td", { class: "n" }, grouped(after)),
					make("td", { class: after > before ? "n more" : "n less" }, signed(after - before)));
			const most = 25;
			const body = make("tbody", {}, ...changes.slice(0, most).map(row));
			if (changes.length > most) {
				const rest = changes.slice(most);
				const sum = (side) => rest.reduce((sum, change) => sum + change[side], 0);
				body.append(row([rest.length + " more", sum(1), sum(2)]));
			}
			const headings = [heading, "base", "new", "difference"];
			const cell = (text, at) => make("th", { scope: "col", class: at === 0 ? "" : "n" }, text);
			const head = make("tr", {}, ...headings.map(cell));
			if (changes.length === 0) return make("p", {}, title + ": none differ.");
			const table = make("table", { class: "small" }, make("caption", {}, title));
			table.append(make("thead", {}, head), body);
			return make("div", { class: "scroll" }, table);
		};
		const WORDS = {
			s: "same", h: "higher", l: "lower", m: "mode-appeared", t: "longer-tail",
			r: "shorter-tail", e: "events-differ", u: "not comparable", b: "broken",
		};
		const open = (path, kernel) => {
			const from = base(kernel);
			const result = judged(path, from, kernel);
			const close = make("button", { type: "button", class: "close" }, "Close");
			close.addEventListener("click", () => dialog.close());
			const title = make("h2", { id: "difference-title" }, history.paths[path]);
			const names = history.kernels[from] + " → " + history.kernels[kernel];
			const parts = [close, title, make("p", {}, from === kernel ? history.kernels[kernel] : names)];
			if (result.old === null || result.now === null) {
				parts.push(make("p", {}, "It was not measured in both."));
			} else {
				const change = result.now - result.old;
				const percent = drawn(path, from, kernel)[1];
				const part = /^[+-]/.test(percent) ? " (" + percent + " %)" : "";
				const text = grouped(result.old) + " → " + grouped(result.now) + ": " + WORDS[result.letter] +
					(change === 0 ? "" : ", " + signed(change) + part);
				parts.push(make("p", {}, make("b", {}, text)));
			}
			const functions = [from, kernel].map((each) => history.functions[path][each]);
			if (functions[0] && functions[1]) {
				const title = "Functions, by the instructions that they execute themselves";
				parts.push(differing(title, "function", ...functions.map(paired)));
			} else {
				parts.push(make("p", { class: "note" },
					"Which functions differ is not known from results: make the report of the kernels, " +
					"or give documents of explain --json too."));
			}
			const events = [from, kernel].map((each) => paired(history.events[path][each]));
			parts.push(differing("Other events, in most samples", "event", ...events));
			dialog.replaceChildren(...parts);
			dialog.showModal();
		};
	}
	// A link to a row opens it. The names of rows have nothing that an address would escape.
	const reach = () => {
		const row = document.getElementById(location.hash.slice(1));
		if (!row) return;
		row.hidden = false;
		const closed = row.querySelector("button.open[aria-expanded='false']");
		if (closed) closed.click();
		row.scrollIntoView();
	};
	addEventListener("hashchange", reach);
	reach();
	document.documentElement.dataset.ready = "yes";
});
