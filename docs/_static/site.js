/* Tables that are too wide become blocks; whatever still scrolls sideways can be reached by the keyboard; the
   chapters of a page that is long on a phone are folded; icons say what they are for. */
(() => {
  "use strict";

  function stack(table) {
    const head = table.rows[0]; // of a thead, or of the body of a notebook's table
    const heads = [...head.cells].map((cell) => cell.textContent.trim());
    head.classList.add("head");
    for (const row of table.querySelectorAll("tbody tr:not(.head)")) {
      [...row.cells].forEach((cell, place) => (cell.dataset.label = heads[place] ?? ""));
    }
    table.classList.add("stacked");
  }

  function wide(box) {
    return box.scrollWidth > box.clientWidth + 1;
  }

  function fit() {
    for (const table of document.querySelectorAll(".content table.docutils, .content .cell_output table")) {
      const box = table.closest(".table-wrapper") ?? table.parentElement;
      table.classList.remove("stacked");
      if (wide(box)) stack(table);
    }
    const boxes = ".content pre, .content .formula, .content .table-wrapper";
    for (const box of document.querySelectorAll(boxes)) {
      if (wide(box)) {
        box.tabIndex = 0;
        box.setAttribute("role", "region");
        box.setAttribute("aria-label", box.tagName === "PRE" ? "Code, scrolls sideways" : "Scrolls sideways");
      } else if (box.getAttribute("role") === "region") {
        for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
      }
    }
    document.documentElement.dataset.fitted = "yes";
  }

  const SCREENS = 12; // a longer page is folded on a phone

  /** Put each chapter of a long page into a box that opens; find-in-page and links open it. */
  function fold() {
    const article = document.querySelector("article");
    if (innerWidth > 736 || article.scrollHeight < SCREENS * innerHeight) return;
    for (const heading of article.querySelectorAll("section > section > h2")) {
      const box = document.createElement("details");
      box.className = "folded";
      const summary = document.createElement("summary");
      summary.textContent = `Open: ${heading.firstChild.textContent.trim()}`;
      while (heading.nextSibling) box.append(heading.nextSibling);
      box.prepend(summary);
      heading.after(box);
    }
    reveal();
  }

  /** Open the boxes around, and directly inside, the part that the address names. */
  function reveal() {
    const part = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!part) return;
    const inside = part.querySelector(":scope > details.folded");
    if (inside) inside.open = true;
    for (let box = part.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    part.scrollIntoView();
  }

  function name() {
    const titles = [
      ["label.toc-overlay-icon", "Contents of this page"],
      ["label.nav-overlay-icon", "Menu of the site"],
      ["button.theme-toggle", "Light, dark, or as the system"],
    ];
    for (const [selector, title] of titles) {
      for (const part of document.querySelectorAll(selector)) part.title = title;
    }
  }

  let waiting;
  addEventListener("load", () => {
    name();
    fit();
    fold();
    addEventListener("toggle", fit, true);
  });
  addEventListener("hashchange", reveal);
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(fit, 100);
  });
})();
