import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { hashOf, newSecret } from '../../kernel/database/credential.ts'
import { clientOf } from '../../values/client-of.ts'
import { after, clock } from '../../values/clock.ts'
import { newLetterCode } from '../../values/letter-code.ts'
import type { cliAuthApi } from './api.ts'
import { CliPairing, CODE_LASTS_MS, INTERVAL_S, MOST_WAITING, platform } from './pairing.ts'
import { pairingEvent } from './schemas.ts'

const WAITING = `
select count(*)::int as waiting from cli_pairings
where owner_id = $1 and mode = $2 and client = $3 and status = 'pending' and expires_at > $4`

const LOCK_CLIENT = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'

/** How many terminals of this client wait; those that ask at once are counted one after the other. */
async function waitingOf(client: string, now: Date, sql: Sql): Promise<number> {
  const values = [platform.ownerId, platform.mode, client, now]
  const [, [row]] = await Promise.all([
    sql(LOCK_CLIENT, [`terminals of ${client}`]),
    sql<{ waiting: number } & Row>(WAITING, values),
  ])
  return row?.waiting ?? 0
}

export const start: HandlerOf<typeof cliAuthApi.start> = async (
  { body: { codeChallenge, deviceName, toolWrites } },
  { records, sql, actFor, address, ports, emit, refuse },
) => {
  const now = clock.real()
  const client = clientOf(address ?? '')
  actFor(platform, now)
  if ((await waitingOf(client, now, sql)) >= MOST_WAITING) return refuse('too_many_waiting')
  const code = newSecret('')
  const pairing = records.create(CliPairing, {
    createdAt: now,
    expiresAt: after(now, CODE_LASTS_MS),
    hash: hashOf(code),
    codeChallenge,
    deviceName,
    toolWrites,
    address,
    client,
    pairingCode: newLetterCode(),
  })
  emit('cli.requested', pairingEvent(pairing))
  const { pairingCode } = pairing
  const url = ports.pageUrl(`/cli/${code}`)
  return { code, pairingCode, url, expiresIn: CODE_LASTS_MS / 1_000, interval: INTERVAL_S }
}
