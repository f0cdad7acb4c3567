import type { CustomCommand } from '../context.ts'

export const approveIntentCommand: CustomCommand = {
  noun: 'intents',
  name: 'approve',
  summary: 'Approve an intent, with a passkey if the policy requires one',
  description:
    'If the agent’s policy requires a passkey, the approval page opens and the command waits for the decision. If it asks several people, the command says how many approvals are missing. It exits with 0 once the intent is approved, and with 1 if it is denied, cancelled or expired.',
  arguments: { '<id>': 'The intent.' },
  options: {
    'no-browser': { type: 'boolean', description: 'Print the address of the page without opening it.' },
  },
  run: async () => undefined,
  async answered(intent, context) {
    const { missingApprovals } = await import('../decisions.ts')
    const missing = missingApprovals(intent as Parameters<typeof missingApprovals>[0])
    if (missing !== undefined) context.note(`Recorded: ${missing}`)
  },
  async refused({ code }, context) {
    if (code !== 'attestation_required') return undefined
    const [id = ''] = context.arguments
    const { approveInBrowser: approveOnPage } = await import('../decisions.ts')
    return approveOnPage(id, context)
  },
}
