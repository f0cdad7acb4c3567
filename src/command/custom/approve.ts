import type { CustomCommand } from '../context.ts'

export const approveIntentCommand: CustomCommand = {
  noun: 'intents',
  name: 'approve',
  summary: 'Approve an intent, with a passkey if the policy requires one',
  description:
    'If the agent’s policy requires a passkey, the approval page opens and the command waits for the decision. It exits with 0 once the intent is approved, and with 1 if it is denied, cancelled or expired.',
  arguments: { '<id>': 'The intent.' },
  options: {
    'no-browser': { type: 'boolean', description: 'Print the address of the page without opening it.' },
  },
  run: async () => undefined,
  async refused({ code }, context) {
    if (code !== 'attestation_required') return undefined
    const [id = ''] = context.arguments
    const { approveInBrowser: approveOnPage } = await import('../decisions.ts')
    return approveOnPage(id, context)
  },
}
