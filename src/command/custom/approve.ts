import type { CustomCommand } from '../context.ts'

/** Runs the operation, and opens the page if a key may not approve by itself. */
export const approveIntent: CustomCommand = {
  noun: 'intents',
  name: 'approve',
  summary: 'Approve an intent, on a page where a passkey is asked for',
  description:
    'Where the policy of the agent asks for a passkey, the page for it opens, and the command waits for what the person decides: it ends with 0 once the intent is approved, and with 1 where it is denied, cancelled or expired.',
  arguments: { '<id>': 'The intent.' },
  options: {
    'no-browser': { type: 'boolean', description: 'Print the address of the page, and open nothing.' },
  },
  run: async () => undefined,
  async refused({ code }, context) {
    if (code !== 'attestation_required') return undefined
    const [id = ''] = context.arguments
    const { approveOnPage } = await import('../decisions.ts')
    return approveOnPage(id, context)
  },
}
