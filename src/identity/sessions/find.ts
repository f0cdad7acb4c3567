import type { Context } from '../../kernel/contract/context.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectList } from '../../kernel/database/bulk-sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { countGuess, type Guessing } from '../../kernel/database/wrong-guesses.ts'
import { clock } from '../../values/clock.ts'
import { readLetterCode } from '../../values/letter-code.ts'
import { DeviceSession, platform } from './session.ts'

export type SessionRow = RowOf<DeviceSession>

export const sessionsTable = tableOf(DeviceSession)

const ROW = `select ${selectList(sessionsTable, 's')} from sessions s`

const LOCK_BY_DEVICE_CODE = `${ROW} where s.hash = $1 for update`

/** Locks a session by the code of its device; the search goes by the digest, so its time tells nothing about existing codes. */
export async function lockByDeviceCode(sql: Sql, code: string): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow & Row>(LOCK_BY_DEVICE_CODE, [hashOf(code)])
  return row
}

/**
 * Of the few letters that people type, as `readLetterCode` gives them: with a key, as all codes that there are would be tried
 * in minutes otherwise. The first is how the code is kept; it is found by the others while an old key is on its way out.
 */
export const userHashesOf = (
  userCode: string,
  { vault }: Pick<Ports, 'vault'>,
): readonly [string, ...string[]] => vault.digests(userCode, 'user codes of devices')

const BY_USER_CODE = `
${ROW} where s.owner_id = $1 and s.mode = $2 and s.user_hash = any($3::text[]) and s.status = 'requested'`
const LOCK_BY_USER_CODE = `${BY_USER_CODE} for update`

type Finding = Guessing & Pick<Context, 'sql' | 'ports'>

const byUserCode =
  (text: string) =>
  async (code: string, { sql, ports }: Finding): Promise<SessionRow | undefined> =>
    (await sql<SessionRow & Row>(text, [platform.ownerId, platform.mode, userHashesOf(code, ports)]))[0]

const find = byUserCode(BY_USER_CODE)
const lock = byUserCode(LOCK_BY_USER_CODE)

/** A request that waits, with its code as it is shown everywhere. */
export interface Waiting {
  readonly request: SessionRow
  readonly userCode: string
}

export type NotWaiting =
  | { readonly refused: 'user_code_unknown' | 'user_code_expired' }
  | { readonly refused: 'too_many_guesses'; readonly waitSeconds: number }

const finding =
  (search: typeof find) =>
  async (typed: string, context: Finding): Promise<Waiting | NotWaiting> => {
    const userCode = readLetterCode(typed)
    // It can be the code of no device, so it is no guess.
    if (userCode === undefined) return { refused: 'user_code_unknown' }
    const [guess, request] = await Promise.all([countGuess('user code', context), search(userCode, context)])
    if (guess.waitSeconds > 0) return { refused: 'too_many_guesses', waitSeconds: guess.waitSeconds }
    if (!request) return { refused: 'user_code_unknown' }
    guess.wasRight()
    return request.endsAt > clock.real() ? { request, userCode } : { refused: 'user_code_expired' }
  }

/** Finds the request that waits under a code which a person has typed. Each wrong code is counted. */
export const findWaiting = finding(find)
/** The same, and locks it. */
export const lockWaiting = finding(lock)
