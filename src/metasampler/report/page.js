
"use strict";
(() => {
  const numbers = JSON.parse(document.getElementById("numbers").textContent);
  const known = "hits" in numbers;
  const slider = document.getElementById("slider");
  const at = (id) => document.getElementById(id);
  const outs = new Map();
  for (const out of document.querySelectorAll("[data-out]")) outs.set(out.dataset.out, out);
  document.documentElement.classList.remove("no-script");

  // ---------------------------------------------------------------- how numbers are written

  const withCommas = (value, digits) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const amount = (value) =>
    withCommas(value, Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : 1);
  const percent = (part) => (Number.isFinite(part) ? (100 * part).toFixed(1) + "%" : "–");
  const between = (low, high) =>
    low === null || high === null ? "" : `${percent(low)} to ${percent(high)}`;
  const significant = (value, digits = 4) => {
    if (Math.abs(value) < 1e-12) return "0";
    const short = Number(value.toPrecision(digits));
    return String(short).includes("e") ? short.toFixed(15).replace(/\.?0+$/, "") : String(short);
  };
  const outOf = (part) => {
    for (const size of [100, 1000, 10000, 100000, 1000000]) {
      const of = Math.floor(part * size + 0.5);
      const close = Math.abs(of / size - part) <= 0.05 * part && (of < size || part === 1);
      if (close || size === 1000000) {
        return [withCommas(of, 0), withCommas(size, 0)];
      }
    }
  };

  // ---------------------------------------------------------------- what a threshold does

  const at_cut = (i) => {
    const alarms = numbers.alarms[i];
    const found = { alarms, share: alarms / numbers.rows };
    if (known) {
      const hits = numbers.hits[i];
      found.hits = hits;
      found.falseAlarms = Math.max(alarms - hits, 0);
      found.misses = Math.max(numbers.positive - hits, 0);
      found.rest = Math.max(numbers.rows - numbers.positive - found.falseAlarms, 0);
      found.precision = alarms > 0 ? hits / alarms : NaN;
      found.recall = hits / numbers.positive;
      found.f1 = (2 * hits) / (alarms + numbers.positive);
    }
    return found;
  };
  const cuts = numbers.threshold.map((_, i) => at_cut(i));

  // What a box holds; while it holds no amount, what it held before.
  const held = {};
  const box = (id) => {
    const input = at(id);
    const value = input.valueAsNumber;
    const good = Number.isFinite(value) && value >= 0;
    input.setAttribute("aria-invalid", String(!good));
    if (good) held[id] = value;
    return held[id] ?? 0;
  };
  // The threshold with the most alarms that are not more than a team can check in a day.
  const perDay = at("alarms-per-day");
  const withAlarms = () => {
    const wanted = box("alarms-per-day"), { rows } = boxes();
    let place = -1;
    for (let i = 0; i < cuts.length; i++) {
      const fits = rows * cuts[i].share <= wanted;
      if (fits && (place < 0 || cuts[i].share > cuts[place].share)) place = i;
    }
    return place < 0 ? cuts.length - 1 : place;
  };
  const boxes = () => {
    const rows = box("rows-a-day");
    return known ? { rows, miss: box("miss-cost"), alarm: box("alarm-cost") } : { rows };
  };
  const cost = (cut, set) =>
    ((set.miss * cut.misses + set.alarm * cut.falseAlarms) * set.rows) / numbers.rows;

  const best = (value) => {
    let place = 0;
    for (let i = 1; i < cuts.length; i++) if (value(cuts[i]) > value(cuts[place])) place = i;
    return place;
  };

  // ---------------------------------------------------------------- the page

  const write = (key, words) => {
    const out = outs.get(key);
    if (out && out.textContent !== words) out.textContent = words;
  };

  const sentence = (cut) => {
    if (!(cut.alarms > 0)) return ["No alarm is raised at the threshold."];
    if (!known) {
      const [n, of] = outOf(cut.share);
      return [`${n} of ${of} rows ${n === "1" ? "raises" : "raise"} an alarm.`];
    }
    const [right, ofAlarms] = outOf(cut.precision);
    const [hit, ofFound] = outOf(cut.recall);
    const what = document.createElement("bdi");
    what.textContent = numbers.what;
    return [
      `Of ${ofAlarms} alarms ${right} ${right === "1" ? "is" : "are"} right; ${hit} of ${ofFound} `,
      what,
      ` ${hit === "1" ? "is" : "are"} found.`,
    ];
  };

  // A screen reader hears the sentence once the slider rests, not at every step.
  let later;
  const say = (words) => {
    clearTimeout(later);
    later = setTimeout(() => (at("said").textContent = words), 500);
  };

  const update = () => {
    const i = Number(slider.value);
    const cut = cuts[i];
    const set = boxes();
    const threshold = significant(numbers.threshold[i]);
    write("threshold", threshold);
    // While a number is typed, it stays as it is.
    if (document.activeElement !== perDay) {
      perDay.value = Number((set.rows * cut.share).toPrecision(3));
      perDay.setAttribute("aria-invalid", "false");
    }
    const live = at("live");
    live.replaceChildren(...sentence(cut));
    slider.setAttribute("aria-valuetext", threshold);
    write("alarms-a-day", amount(set.rows * cut.share));
    write("alarms-a-day-words", `${percent(cut.share)} of ${amount(set.rows)} rows`);
    write("alarms", amount(cut.alarms));
    write("alarms-words", (100 * cut.share).toFixed(2) + "%");
    if (known) {
      write("precision", percent(cut.precision));
      write("precision-between", between(numbers.precisionLow[i], numbers.precisionHigh[i]));
      write("recall", percent(cut.recall));
      write("recall-between", between(numbers.recallLow[i], numbers.recallHigh[i]));
      write("cost", amount(cost(cut, set)));
      const without = cost(cuts[cuts.length - 1], set);
      write("cost-words", `${amount(without)} without any alarm`);
      write("hits", amount(cut.hits));
      write("misses", amount(cut.misses));
      write("false-alarms", amount(cut.falseAlarms));
      write("rest", amount(cut.rest));
      const others = numbers.rows - numbers.positive;
      write("hits-share", percent(cut.recall));
      write("misses-share", percent(cut.misses / numbers.positive));
      write("false-alarms-share", percent(cut.falseAlarms / others));
      write("rest-share", percent(cut.rest / others));
      drawCosts(i, set, without);
    }
    move(i, cut);
    say(live.textContent);
  };

  // ---------------------------------------------------------------- figures

  const frameOf = (svg) => {
    const [width, height, left, right, top, bottom] = svg.dataset.frame.split(" ").map(Number);
    return {
      x: (part) => left + part * (width - left - right),
      y: (part) => height - bottom - part * (height - top - bottom),
      left, top, right: width - right, bottom: height - bottom,
    };
  };

  const move = (i, cut) => {
    for (const mark of document.querySelectorAll("[data-mark]")) {
      const svg = mark.ownerSVGElement;
      const frame = frameOf(svg);
      if (mark.dataset.mark === "scores") {
        const low = Number(svg.dataset.low), high = Number(svg.dataset.high);
        let place = numbers.threshold[i];
        if (numbers.probabilities) {
          place = place <= 0 ? low : place >= 1 ? high : Math.log(place / (1 - place));
        }
        const x = frame.x(Math.min(Math.max((place - low) / (high - low), 0), 1)).toFixed(1);
        mark.setAttribute("x1", x);
        mark.setAttribute("x2", x);
      } else {
        const x = mark.dataset.mark === "gains" ? cut.share : cut.recall;
        const y = mark.dataset.mark === "gains" ? cut.recall : cut.precision;
        mark.setAttribute("cx", frame.x(x).toFixed(1));
        const part = Number.isFinite(y) ? Math.min(y / Number(svg.dataset.top), 1) : 0;
        mark.setAttribute("cy", frame.y(part).toFixed(1));
      }
    }
  };

  const draw = (parent, tag, attributes, words) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (words !== undefined) made.textContent = words;
    parent.append(made);
    return made;
  };

  const niceStep = (high, about) => {
    const raw = high / about;
    const size = 10 ** Math.floor(Math.log10(raw));
    return size * [1, 2, 5, 10].find((part) => part * size >= raw * 0.999);
  };

  const drawCosts = (i, set, without) => {
    const svg = at("cost-figure");
    const frame = frameOf(svg);
    const costs = cuts.map((cut) => cost(cut, set));
    const least = Math.min(...costs);
    // Calling everybody may cost so much that nothing else would be seen.
    const high = Math.min(Math.max(...costs), Math.max(without, 2.5 * least, costs[i])) * 1.08 || 1;
    while (svg.lastElementChild.tagName !== "title") svg.lastElementChild.remove();
    svg.firstElementChild.textContent =
      `Expected cost per day at every threshold: ${amount(costs[i])} at the one chosen, ` +
      `${amount(least)} at the cheapest, ${amount(without)} without any alarm.`;
    const step = niceStep(high, 5);
    for (let value = 0; value <= high; value += step) {
      const y = frame.y(value / high).toFixed(1);
      draw(svg, "path", { d: `M${frame.left} ${y}H${frame.right}`, class: "grid" });
      const words = high >= 1e4 && value ? significant(value / 1000) + "k" : significant(value);
      draw(svg, "text", { x: frame.left - 6, y, dy: "0.35em", "text-anchor": "end", class: "tick" }, words);
    }
    const last = cuts.length - 1;
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const x = frame.x(part).toFixed(1);
      draw(svg, "path", { d: `M${x} ${frame.bottom}v4`, class: "axis" });
      const words = significant(numbers.threshold[Math.round(part * last)], 2);
      draw(svg, "text", { x, y: frame.bottom + 17, "text-anchor": part === 1 ? "end" : "middle", class: "tick" }, words);
    }
    draw(svg, "path", { d: `M${frame.left} ${frame.bottom}H${frame.right}`, class: "axis" });
    draw(svg, "text", { x: (frame.left + frame.right) / 2, y: frame.bottom + 38, "text-anchor": "middle", class: "label" }, "Threshold");
    const middle = (frame.top + frame.bottom) / 2;
    draw(svg, "text", { x: 11, y: middle, transform: `rotate(-90 11 ${middle})`, "text-anchor": "middle", class: "label" }, "Cost per day");
    // What is above the frame is cut off by an SVG of the frame's size.
    const inside = draw(svg, "svg", {
      x: frame.left, y: frame.top, width: frame.right - frame.left, height: frame.bottom - frame.top,
      viewBox: `${frame.left} ${frame.top} ${frame.right - frame.left} ${frame.bottom - frame.top}`,
    });
    const level = frame.y(without / high).toFixed(1);
    draw(inside, "path", { d: `M${frame.left} ${level}H${frame.right}`, class: "chance" });
    const path = costs
      .map((value, place) => `${place ? "L" : "M"}${frame.x(place / last).toFixed(1)} ${frame.y(value / high).toFixed(1)}`)
      .join("");
    draw(inside, "path", { d: path, class: "line" });
    draw(svg, "circle", {
      cx: frame.x(i / last).toFixed(1), cy: frame.y(Math.min(costs[i] / high, 1)).toFixed(1), r: 5.5, class: "mark",
    });
  };

  // ---------------------------------------------------------------- what moves it

  const goals = {
    start: () => numbers.start,
    cheapest: () => {
      const set = boxes();
      return best((cut) => -cost(cut, set));
    },
    f1: () => best((cut) => cut.f1),
  };
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => {
      slider.value = goals[button.dataset.go]();
      update();
    });
  }
  slider.addEventListener("input", update);
  for (const input of document.querySelectorAll(".box input")) {
    input.addEventListener("input", () => {
      if (input === perDay) {
        const place = withAlarms();
        if (perDay.getAttribute("aria-invalid") === "false") slider.value = place;
      }
      update();
    });
  }
  perDay.addEventListener("blur", update);

  // Print shows what is folded.
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details:not([open])")) {
      part.open = true;
      part.dataset.folded = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const part of document.querySelectorAll("details[data-folded]")) {
      part.open = false;
      delete part.dataset.folded;
    }
  });

  slider.value = numbers.start;
  update();
})();
