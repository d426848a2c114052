/* Tables that are too wide become blocks; whatever still scrolls sideways can be reached by the keyboard. */
(() => {
  "use strict";

  function stack(table) {
    const heads = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.cells].forEach((cell, place) => (cell.dataset.label = heads[place] ?? ""));
    }
    table.classList.add("stacked");
  }

  function wide(box) {
    return box.scrollWidth > box.clientWidth + 1;
  }

  function fit() {
    for (const table of document.querySelectorAll(".content table.docutils")) {
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

  let waiting;
  addEventListener("load", fit);
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(fit, 100);
  });
})();
