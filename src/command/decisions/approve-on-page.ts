import type { Context } from '../context.ts'
import type { ExitCode } from '../io.ts'
import { openBrowser } from '../sign-in/browser.ts'
import { tellDecision, untilDecided } from './until-decided.ts'

/** Leads to the page on which a person approves with a passkey, and waits for what they decide. */
export async function approveOnPage(id: string, context: Context): Promise<ExitCode> {
  const { note, io, options } = context
  const page = new URL(`/approve/${encodeURIComponent(id)}`, context.connection().url).href
  note('The policy of the agent asks for a passkey. Approve or deny on this page:')
  note('')
  note(`  ${page}`)
  note('')
  if (options['no-browser'] !== true && (await openBrowser(page, io))) note('Your browser opens.')
  note('Waiting for the decision. Ctrl+C stops it.')
  // An intent that nobody decides about expires: the wait has an end.
  const intent = await untilDecided(context, id, Number.POSITIVE_INFINITY)
  return tellDecision(intent as NonNullable<typeof intent>, context)
}
