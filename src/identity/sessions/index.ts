export { deviceSessionsApi } from './api.ts'
export { beginRequest } from './begin.ts'
export { approve, decide, type Grant } from './decide.ts'
export { deviceAuthorizationApi } from './device-api.ts'
export { actForTenantOf, fetchKey } from './fetch-key.ts'
export {
  findByCode,
  livePlatformTenant,
  lockByCode,
  type PairingRow,
  pairingKind,
  pairingMachine,
  sessionsTable,
} from './session.ts'
