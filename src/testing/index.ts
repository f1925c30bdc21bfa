export { type Conformance, checkPlugin } from "./conformance/index.ts";
export * from "./messages.ts";
export { type OpenSessionOptions, openSession } from "./open-session.ts";
export { newestPi, type PiVersion, piVersions } from "./pi-versions.ts";
export type { Placing, PluginSession, Prompt } from "./plugin-session.ts";
export { type FiringCase, type PluginTable, pluginTable, type TableTest, type ValidCase } from "./plugin-table.ts";
export type { Notification, Shown } from "./recording-ui.ts";
export type { Call, ModelRequest, ModelSpec, RawRequest, Reply, Step, ToolDeclaration } from "./scripted-model.ts";
export {
	type AssistantReply,
	type Batch,
	type Exchange,
	onePixel,
	type SessionLog,
	type SessionLogOptions,
	sessionLog,
} from "./session-log.ts";
export type { ToolAnswer, ToolCallInfo, ToolRun, ToolSpec } from "./session-tools.ts";
export type { ReopenChanges, TestSession } from "./test-session.ts";
