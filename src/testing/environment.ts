/**
 * Sets variables of the process until the returned function is called. Where several stays overlap, the one entered last
 * counts, in whatever order they are left; when all are left, the process has its own values again.
 */
export function enterEnvironment(variables: Readonly<Record<string, string>>): () => void {
	for (const name of Object.keys(variables)) if (!own.has(name)) own.set(name, process.env[name]);
	stays.add(variables);
	applyEnvironment();
	return () => {
		stays.delete(variables);
		applyEnvironment();
		if (stays.size === 0) own.clear();
	};
}

const stays = new Set<Readonly<Record<string, string>>>();
const own = new Map<string, string | undefined>();

function applyEnvironment(): void {
	const values = Object.assign(Object.fromEntries(own), ...stays) as Record<string, string | undefined>;
	for (const [name, value] of Object.entries(values)) {
		if (value === undefined) delete process.env[name];
		else process.env[name] = value;
	}
}
