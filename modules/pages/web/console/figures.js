// Sums of usage by period. All times are UTC, as on the server.

// shown tells, by step, how many periods are shown, and how many parts of a date label one.
const shown = { hour: [24, 4], day: [30, 3], month: [12, 2] };

// spansOf returns the starts of the periods of a step, the oldest first, and the end of the last one.
export function spansOf(step, now) {
  const [count, parts] = shown[step];
  const date = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), now.getUTCHours()].slice(0, parts);
  const last = date.pop();
  return Array.from({ length: count + 1 }, (_, n) => new Date(Date.UTC(...date, last + n + 1 - count)));
}

export const number = (value) => value.toLocaleString();

// add adds usage to a sum.
export function add(sum, row) {
  for (const name of ["requests", "refused", "errors", "units"]) sum[name] = (sum[name] ?? 0) + (row?.[name] ?? 0);
  return sum;
}

// bars returns the sums of rows for each period of a step.
export function bars(step, rows, now) {
  const sums = new Map(spansOf(step, now).slice(0, -1).map((start) => [start.getTime(), add({})]));
  for (const row of rows) {
    const sum = sums.get(Date.parse(row.start));
    if (sum) add(sum, row);
  }
  const clock = step === "hour" && { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const form = { timeZone: "UTC", month: "short", day: "numeric", ...clock };
  return [...sums].map(([start, usage]) => ({ label: new Date(start).toLocaleString(undefined, form), usage }));
}

// keyOf is the key of a row of sumUp.
export const keyOf = (account, scope) => account + " " + scope;

// sumUp sums rows since a time by account and scope. Quotas have a row even without usage. Accounts with quotas for all
// scopes have a row with the scope *. The server's rows with the scope * are of requests for which any scope is enough,
// and get the scope "any".
export function sumUp(rows, since, accounts) {
  const sums = new Map();
  const at = (account, scope) => {
    const key = keyOf(account, scope);
    if (!sums.has(key)) sums.set(key, { account, scope, ...add({}) });
    return sums.get(key);
  };
  for (const { id, quotas } of accounts.values()) for (const { scope } of quotas ?? []) at(id, scope);
  for (const row of rows) {
    if (Date.parse(row.start) < since) continue;
    add(at(row.account, row.scope === "*" ? "any" : row.scope), row);
    if (sums.has(keyOf(row.account, "*"))) add(at(row.account, "*"), row);
  }
  return sums;
}
