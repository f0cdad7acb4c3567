import type { ServiceAnswer } from '../calls/caller.ts'
import { type CommandContext, resultOrFailure } from '../context.ts'
import { CommandFailure, exitCodes } from '../io.ts'

interface Pace {
  readonly interval: number
  readonly expiresIn: number
}

/** Added to the interval after `slow_down` (RFC 8628), in seconds. */
const SLOWER_S = 5

const ends: Readonly<Record<string, string>> = {
  access_denied: 'The sign-in was denied.',
  expired_token: 'The code has expired without a decision. Start again.',
  invalid_grant: 'The code is no longer valid: it was used already, perhaps by someone else. Start again.',
}

export async function pollUntilDecided(
  ask: () => Promise<ServiceAnswer>,
  { interval, expiresIn }: Pace,
  { io, note }: Pick<CommandContext, 'io' | 'note'>,
): Promise<unknown> {
  note(`Waiting for up to ${Math.ceil(expiresIn / 60)} minutes. Press Ctrl+C to stop.`)
  for (let seconds = interval; ; ) {
    await io.wait(seconds * 1_000)
    const answer = await ask()
    if (answer.code === 'slow_down') seconds += SLOWER_S
    else if (answer.code !== 'authorization_pending') return decided(answer)
  }
}

function decided(answer: ServiceAnswer): unknown {
  const end = ends[answer.code ?? '']
  if (end) throw new CommandFailure(exitCodes.refused, end, answer.code)
  return resultOrFailure(answer)
}

/** The key of an answer. The service shows it only once, so a later answer lacks it. */
export function requireIssuedKey(key: unknown): string {
  if (typeof key === 'string') return key
  throw new CommandFailure(
    exitCodes.refused,
    'The connection broke while the key was sent, and it is shown only once. Start again, and revoke the lost key: agentpay keys list.',
  )
}
