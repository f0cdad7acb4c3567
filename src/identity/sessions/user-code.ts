import type { WriteContext } from '../../kernel/contract/context.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { recordCodeAttempt } from '../../kernel/database/attempt-limit.ts'
import { clock } from '../../values/clock.ts'
import { newUserCode, parseUserCode } from '../../values/user-code.ts'
import { type DeviceRow, livePlatformTenant, SELECT_SESSION } from './session.ts'

/**
 * Keyed hashes of the user code, as `parseUserCode` returns it, since a plain hash of so few letters could
 * be brute-forced in minutes. The first hash is stored; the others find codes stored under an old key.
 */
const userCodeHashes = (
  userCode: string,
  { vault }: Pick<Systems, 'vault'>,
): readonly [string, ...string[]] => vault.digests(userCode, 'user codes of devices')

const LOCK = `
${SELECT_SESSION} where s.owner_id = $1 and s.mode = $2 and s.user_hash = any($3::text[]) and s.status = 'requested'
for update`

async function lock(hashes: readonly string[], sql: Sql): Promise<DeviceRow | undefined> {
  const { ownerId, mode } = livePlatformTenant
  return (await sql<DeviceRow & Row>(LOCK, [ownerId, mode, hashes]))[0]
}

/** Finds an unused code. With 25,600 million codes, a second attempt is hardly ever needed. */
export async function freeUserCode(
  sql: Sql,
  systems: Pick<Systems, 'vault'>,
): Promise<{ readonly userCode: string; readonly userHash: string }> {
  const userCode = newUserCode()
  const hashes = userCodeHashes(userCode, systems)
  return (await lock(hashes, sql)) ? freeUserCode(sql, systems) : { userCode, userHash: hashes[0] }
}

export interface NotWaiting {
  readonly refused: 'user_code_unknown' | 'user_code_expired' | 'too_many_guesses'
  /** After too many guesses. */
  readonly waitSeconds?: number
}

/** Each wrong code counts towards the attempt limit. */
export async function lockWaitingDevice(
  typed: string,
  context: WriteContext,
): Promise<{ readonly request: DeviceRow; readonly userCode: string } | NotWaiting> {
  const userCode = parseUserCode(typed)
  // No device can have this code, so it does not count as a guess.
  if (userCode === undefined) return { refused: 'user_code_unknown' }
  const [guess, request] = await Promise.all([
    recordCodeAttempt('user code', context),
    lock(userCodeHashes(userCode, context.systems), context.sql),
  ])
  if (guess.waitSeconds > 0) return { refused: 'too_many_guesses', waitSeconds: guess.waitSeconds }
  if (!request) return { refused: 'user_code_unknown' }
  guess.clear()
  return request.endsAt > clock.real() ? { request, userCode } : { refused: 'user_code_expired' }
}
