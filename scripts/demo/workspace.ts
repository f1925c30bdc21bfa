import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Random words that stand in one tool output only: where one is found, that output was sent. */
export interface Needles {
	readonly grep: readonly string[];
	readonly log: readonly string[];
}

const modules = {
	billing: ["invoice", "credit", "refund", "dunning", "receipt"],
	orders: ["basket", "checkout", "shipment", "return", "voucher"],
	payments: ["card", "transfer", "wallet", "payout", "chargeback"],
	ledger: ["journal", "balance", "accrual", "deferral", "closing"],
	reports: ["revenue", "margin", "forecast", "aging", "cashflow"],
	taxes: ["vat", "duty", "exemption", "withholding", "filing"],
};

const currencies = ["EUR", "USD", "GBP", "CHF", "SEK", "PLN"];

const paths = Object.entries(modules).flatMap(([domain, names]) => names.map((name) => ({ domain, name })));

/** Fresh needles: one for each module that the wide grep finds, one for each suite of the test log. */
export function createNeedles(): Needles {
	return { grep: paths.map(() => needle("k")), log: currencies.map(() => needle("run")) };
}

/** Writes a small accounting project, whose rounding is wrong, into the folder. */
export function writeProject(folder: string, needles: Needles): void {
	for (const [path, text] of Object.entries(projectFiles(needles))) {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), text);
	}
}

function needle(prefix: string): string {
	return `${prefix}-${randomBytes(8).toString("hex")}`;
}

function projectFiles(needles: Needles): Record<string, string> {
	const sources = paths.map(({ domain, name }, index) => [
		`src/${domain}/${name}.ts`,
		moduleSource(name, needles.grep[index] ?? ""),
	]);
	return {
		"package.json": '{ "name": "tally", "private": true, "type": "module" }\n',
		"CHANGELOG.md": "# Changelog\n\n## Unreleased\n",
		"src/money/round.ts": roundSource,
		"src/money/split.ts": splitSource,
		"test/run.mjs": testSource(needles.log),
		...Object.fromEntries(sources),
	};
}

const roundSource = `/** Whole cents of an amount that may carry a fraction. */
export function roundCents(cents: number): number {
	return Math.floor(cents);
}
`;

const splitSource = `import { roundCents } from "./round.ts";

/** Parts of an amount in whole cents; the last part takes what is left. */
export function split(amount: number, parts: number): number[] {
	const each = roundCents(amount / parts);
	return Array.from({ length: parts }, (_, index) => (index < parts - 1 ? each : amount - each * (parts - 1)));
}
`;

function moduleSource(name: string, key: string): string {
	const type = name[0]?.toUpperCase() + name.slice(1);
	return `import { roundCents } from "../money/round.ts";

/** A line of a ${name}; every amount is in cents. */
export interface ${type}Line {
	readonly label: string;
	readonly amount: number;
	readonly taxAmount: number;
	readonly discountAmount?: number;
}

/** The key under which the amount of a ${name} is exported at night. */
export const ${name}AmountKey = "${key}";

/** The amount of a ${name} before tax and discount. */
export function ${name}NetAmount(lines: readonly ${type}Line[]): number {
	return lines.reduce((amount, line) => roundCents(amount + line.amount), 0);
}

/** The tax amount of a ${name}; a line without tax counts as 0. */
export function ${name}TaxAmount(lines: readonly ${type}Line[]): number {
	return lines.reduce((amount, line) => roundCents(amount + line.taxAmount), 0);
}

/** The amount by which discounts lower a ${name}. */
export function ${name}DiscountAmount(lines: readonly ${type}Line[]): number {
	return lines.reduce((amount, line) => roundCents(amount + (line.discountAmount ?? 0)), 0);
}

/** The amount that is due. */
export function ${name}DueAmount(lines: readonly ${type}Line[]): number {
	return ${name}NetAmount(lines) + ${name}TaxAmount(lines) - ${name}DiscountAmount(lines);
}
`;
}

function testSource(runs: readonly string[]): string {
	return `import { roundCents } from "../src/money/round.ts";

const runs = ${JSON.stringify(runs)};
const currencies = ${JSON.stringify(currencies)};
let number = 0;
let failed = 0;

for (const [suite, currency] of currencies.entries()) {
	console.log(\`# suite \${currency}, \${runs[suite]}\`);
	for (let index = 0; index < 28; index++) {
		const whole = 1000 + suite * 97 + index * 37;
		const fraction = (index % 8) / 8;
		const expected = fraction < 0.5 ? whole : whole + 1;
		const passed = roundCents(whole + fraction) === expected;
		if (!passed) failed++;
		const name = \`\${(whole + fraction).toFixed(3)} \${currency} cents become \${expected}, on the invoice and in the journal\`;
		console.log(\`\${passed ? "ok" : "not ok"} \${++number} - roundCents: \${name}\`);
	}
}
console.log(\`# tests \${number}\\n# pass \${number - failed}\\n# fail \${failed}\`);
process.exitCode = failed === 0 ? 0 : 1;
`;
}
