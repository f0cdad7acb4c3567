import { clock } from '../values/system-clock.ts'
import type { CommandContext } from './context.ts'
import { type ExitCode, exitCodes } from './io.ts'
import { openBrowser } from './sign-in/browser.ts'

/** Rare enough for the rate limit of a key that waits for several intents. */
const EVERY_MS = 2_000
const LEAST_MS = 1_000

interface Intent {
  readonly id: string
  readonly status: string
  readonly amountEuros: number
  readonly merchant: string
  readonly comment: string | null
  /** Null if one person approves. */
  readonly approval: { readonly given: number; readonly needed: number } | null
}

const outcomes: Readonly<Record<string, string>> = {
  approved: 'is approved',
  completed: 'is approved, and the payment is made',
  denied: 'is denied',
  cancelled: 'is cancelled',
  expired: 'has expired without a decision',
}

/** `1 of 2 approvals. 1 more is needed.`; undefined if one person approves, or all have. */
export function missingApprovals({ approval }: Pick<Intent, 'approval'>): string | undefined {
  if (!approval || approval.given >= approval.needed) return undefined
  const { given, needed } = approval
  const missing = needed - given
  const approvals = needed === 1 ? 'approval' : 'approvals'
  return `${given} of ${needed} ${approvals}. ${missing} more ${missing === 1 ? 'is' : 'are'} needed.`
}

export async function waitForDecision(
  context: Pick<CommandContext, 'result' | 'io' | 'note'>,
  id: string,
  mostMs: number,
): Promise<Intent | undefined> {
  let said: string | undefined
  for (let leftMs = mostMs; ; ) {
    const before = clock.ticks()
    const withinMs = Math.max(leftMs, LEAST_MS)
    const intent = await context.result<Intent>('intents.get', { params: { id }, withinMs })
    if (intent.status !== 'created') return intent
    const missing = missingApprovals(intent)
    if (missing !== undefined && missing !== said) context.note(missing)
    said = missing
    if (leftMs <= 0) return undefined
    const pause = Math.min(EVERY_MS, leftMs)
    await context.io.wait(pause)
    leftMs -= Math.max(pause, clock.ticks() - before)
  }
}

export function reportDecision(intent: Intent, context: Pick<CommandContext, 'print' | 'note'>): ExitCode {
  const { id, status, comment } = intent
  context.print(intent)
  context.note(`${id} ${outcomes[status] ?? `is ${status}`}.${comment ? ` “${comment}”` : ''}`)
  return ['approved', 'completed'].includes(status) ? exitCodes.done : exitCodes.refused
}

export async function approveInBrowser(id: string, context: CommandContext): Promise<ExitCode> {
  const { note, io, options } = context
  const page = new URL(`/approve/${encodeURIComponent(id)}`, context.connection().url).href
  note('The agent’s policy requires a passkey. Approve or deny on this page:')
  note('')
  note(`  ${page}`)
  note('')
  if (options['no-browser'] !== true && (await openBrowser(page, io))) note('Your browser opens.')
  note('Waiting for the decision. Press Ctrl+C to stop.')
  const intent = await waitForDecision(context, id, Number.POSITIVE_INFINITY)
  return reportDecision(intent as NonNullable<typeof intent>, context)
}
