import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { hashSecret, newSecret } from '../../kernel/database/credential.ts'
import { readClockOffset } from '../../kernel/database/tenant-clock.ts'
import { clientAddressKey } from '../../values/client-of.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { newUserCode } from '../../values/user-code.ts'
import { createDeviceKey, currentDeviceScopes } from '../keys/index.ts'
import { cliAuthApi, pairingEvent } from './api.ts'
import { approvePairing, createPairingChallenge, denyPairing } from './decide.ts'
import {
  CliPairing,
  cliAuthPersonalData,
  codeChallengeOf,
  livePlatformTenant,
  lockPairingByCode,
  MAX_WAITING_PAIRINGS,
  PAIRING_CODE_TTL_MS,
  PAIRING_POLL_INTERVAL_S,
  type PairingRow,
  pairingMachine,
  pairingsTable,
} from './pairing.ts'

const WAITING = `
select count(*)::int as waiting from cli_pairings
where owner_id = $1 and mode = $2 and client = $3 and status = 'pending' and expires_at > $4`

const LOCK_CLIENT = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'

async function waitingOf(client: string, now: Date, sql: Sql): Promise<number> {
  const values = [livePlatformTenant.ownerId, livePlatformTenant.mode, client, now]
  const [, [row]] = await Promise.all([
    sql(LOCK_CLIENT, [`terminals of ${client}`]),
    sql<{ waiting: number } & Row>(WAITING, values),
  ])
  return row?.waiting ?? 0
}

const start: HandlerOf<typeof cliAuthApi.start> = async (
  { body: { codeChallenge, deviceName, toolWrites } },
  { em, sql, switchTenant, address, service, emit, refuse },
) => {
  const now = clock.real()
  const client = clientAddressKey(address ?? '')
  switchTenant(livePlatformTenant, now)
  if ((await waitingOf(client, now, sql)) >= MAX_WAITING_PAIRINGS) return refuse('too_many_waiting')
  const code = newSecret('')
  const pairing = em.create(CliPairing, {
    createdAt: now,
    expiresAt: addMs(now, PAIRING_CODE_TTL_MS),
    hash: hashSecret(code),
    codeChallenge,
    deviceName,
    toolWrites,
    address,
    client,
    pairingCode: newUserCode(),
  })
  emit('cli.requested', pairingEvent(pairing))
  const { pairingCode } = pairing
  const url = service.pageUrl(`/cli/${code}`)
  return { code, pairingCode, url, expiresIn: PAIRING_CODE_TTL_MS / 1_000, interval: PAIRING_POLL_INTERVAL_S }
}

/** The terminal sends no credential, so from here on the request acts for the tenant of the row. */
async function actForTenantOf({ ownerId, mode }: PairingRow, { sql, switchTenant }: Context): Promise<void> {
  const tenant = { ownerId, mode }
  switchTenant(tenant, clock.tenant(mode === 'test' ? await readClockOffset(sql, tenant) : 0))
}

const writeEnd = updateOf(pairingsTable, ['status', 'keyId', 'updatedAt'])

const end = (pairing: PairingRow, to: 'paired' | 'void', { sql }: Context): Promise<void> => {
  pairingMachine.move(pairing, to)
  pairing.updatedAt = clock.real()
  return writeEnd(sql, pairing, [pairing])
}

function refusalCode({ status, expiresAt }: PairingRow) {
  if (status === 'denied') return 'access_denied'
  if (expiresAt <= clock.real()) return 'expired_token'
  return status === 'pending' ? 'authorization_pending' : undefined
}

/** The row stays locked, so only one of several concurrent requests gets the key. */
const token: HandlerOf<typeof cliAuthApi.token> = async ({ body }, context) => {
  const { sql, emit, refuse } = context
  const pairing = await lockPairingByCode(sql, body.code)
  if (!pairing || pairingMachine.isFinal(pairing.status)) return refuse('invalid_grant')
  if (codeChallengeOf(body.codeVerifier) !== pairing.codeChallenge) {
    await actForTenantOf(pairing, context)
    await end(pairing, 'void', context)
    emit('cli.failed', { ...pairingEvent(pairing), personId: pairing.personId })
    return refuse('invalid_grant')
  }
  const code = refusalCode(pairing)
  if (code) return refuse(code)
  await actForTenantOf(pairing, context)
  return pair(pairing, context)
}

type Pairing = Parameters<typeof token>[1]

async function pair(pairing: PairingRow, context: Pairing) {
  const { em, emit, refuse } = context
  const scopes = await currentDeviceScopes(pairing, context)
  if (scopes.length === 0) return refuse('access_denied')
  const { id: sessionId, deviceName: name, toolWrites } = pairing
  const personId = String(pairing.personId)
  const key = createDeviceKey({ name, scopes, toolWrites, boundTo: null, personId, sessionId }, context)
  await em.flush()
  pairing.keyId = key.id
  await end(pairing, 'paired', context)
  emit('cli.paired', { ...pairingEvent(pairing), personId, keyId: key.id })
  return key
}

/** Expired pairings are kept for an hour, so that late terminals get a clear error. */
const KEPT_FOR_MS = minutes(60)

const cliAuth = bindHandlers(cliAuthApi, {
  challenge: createPairingChallenge,
  approve: approvePairing,
  deny: denyPairing,
  start,
  token,
})

export const cliAuthArea = area(
  'CLI Auth',
  'How a command line gets a key: a person compares a code in the browser and approves with a passkey.',
  cliAuth,
  {
    personal: cliAuthPersonalData,
    entities: [CliPairing],
    machines: [pairingMachine],
    expiring: [{ table: 'cli_pairings', column: 'expires_at', keptMs: KEPT_FOR_MS }],
  },
)
