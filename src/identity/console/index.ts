export { consoleApi } from './api.ts'
export { beginConsoleSession, endConsoleSessions, sessionRequestHeaders } from './begin.ts'
export { CurrentSessionRecord, consoleSessionEvents } from './schemas.ts'
