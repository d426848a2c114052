/* Pages that explain come before pages that list: a guide, then a mechanism or a name, then the project's files. */
var Scorer = {
  score: ([page, title, , , score]) => {
    const folder = page.includes("/") ? page.split("/")[0] : "";
    const weight = { "": 1, notebooks: 0.7, mechanisms: 0.6, api: 0.5, benchmarks: 0.3, project: 0.2 }[folder] ?? 0.5;
    const named = folder === "api" && title.startsWith("dt.") && score >= 10 ? 2 : 1;
    return score * weight * named;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
