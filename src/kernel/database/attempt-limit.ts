import { clientAddressKey } from '../../values/client-of.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import type { Actor } from '../contract/actor.ts'
import type { RefusalSpec } from '../contract/operation.ts'
import type { Row, Sql } from '../contract/sql.ts'

/** Wrong codes that one person, and one address, may send in the window. */
export const MAX_CODE_ATTEMPTS = 10
export const ATTEMPT_WINDOW_MS = minutes(10)

/** For an operation that takes a code; its contract names `Retry-After` among the headers of a 429. */
export const tooManyAttemptsRefusal: RefusalSpec = [
  429,
  'Ten wrong codes were entered by you or from your address within ten minutes. Wait, then check the code again.',
]

export const retryAfterHeader = { 'Retry-After': 'Seconds to wait.' } as const

/**
 * Counts the attempt as wrong before it is checked, so that concurrent guesses cannot exceed the limit: the
 * rows stay locked until the transaction ends. Full counters are left as they are.
 */
const COUNT = `
insert into wrong_guesses as kept (guesser, wrong_at, last_at)
select guesser, array[$2::timestamptz], $2 from unnest($1::text[]) as one(guesser) order by guesser
on conflict (guesser) do update set
  wrong_at = case when (select count(*) from unnest(kept.wrong_at) as at where at > $3::timestamptz) < ${MAX_CODE_ATTEMPTS}
    then array(select at from unnest(kept.wrong_at) as at where at > $3::timestamptz order by at) || $2::timestamptz
    else kept.wrong_at end,
  last_at = excluded.last_at
returning guesser, old.wrong_at is not null
  and (select count(*) from unnest(old.wrong_at) as at where at > $3::timestamptz) >= ${MAX_CODE_ATTEMPTS} as "isFull",
  (select min(at) from unnest(wrong_at) as at where at > $3::timestamptz) as "oldest"`

const FORGIVE = `
update wrong_guesses set wrong_at = wrong_at[:cardinality(wrong_at) - 1]
where guesser = any($1::text[])`

export interface AttemptContext {
  readonly sql: Sql
  readonly actor: Actor
  readonly address: string | null
  queueStatement(statement: Promise<unknown>): void
}

/** An attempt, counted as wrong in advance; `clear` takes that back. */
export interface CodeAttempt {
  /** How long this person or address must wait; 0 where the attempt may be checked. */
  readonly waitSeconds: number
  clear(): void
}

interface Counted extends Row {
  readonly guesser: string
  readonly isFull: boolean
  readonly oldest: Date
}

/** Counts one attempt at a secret of this name, by the person and by the client's address. */
export async function recordCodeAttempt(secret: string, context: AttemptContext): Promise<CodeAttempt> {
  const { sql, queueStatement } = context
  const now = clock.real()
  const guessers = guessersOf(secret, context)
  const rows = await sql<Counted>(COUNT, [guessers, now, addMs(now, -ATTEMPT_WINDOW_MS)])
  const full = rows.filter(({ isFull }) => isFull)
  const takeBack = (guessers: readonly string[]) => queueStatement(sql(FORGIVE, [guessers]))
  // The attempt is not checked, so the other counters get it back.
  if (full.length > 0) takeBack(rows.flatMap(({ guesser, isFull }) => (isFull ? [] : [guesser])))
  const waits = full.map(({ oldest }) => addMs(oldest, ATTEMPT_WINDOW_MS).getTime() - now.getTime())
  return {
    waitSeconds: full.length === 0 ? 0 : Math.max(1, Math.ceil(Math.max(...waits) / 1_000)),
    clear: () => takeBack(guessers),
  }
}

const guessersOf = (secret: string, { actor, address }: AttemptContext): string[] =>
  [
    ...(actor.id === null ? [] : [`${secret}|${actor.id}`]),
    ...(address === null ? [] : [`${secret}|from ${clientAddressKey(address)}`]),
  ].sort()
