import type { SubmissionBlocker } from '../../../control/intents/index.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'

/** Reasons to cancel a transfer between its making and its submission. */
export const blockReasons = {
  wallet_frozen: {
    code: 'wallet_frozen',
    message: 'The wallet was frozen before the transfer had left it.',
  },
  agent_not_active: {
    code: 'agent_not_active',
    message: 'The agent was frozen before the transfer had left.',
  },
  customer_suspended: {
    code: 'customer_suspended',
    message: 'The account was suspended before the transfer had left.',
  },
  delegation_revoked: {
    code: 'delegation_revoked',
    message: 'The delegation of its intent was revoked before the transfer had left.',
  },
  intent_other_merchant: {
    code: 'intent_other_merchant',
    message: 'The agent pays one merchant only, and has paid another one before the transfer had left.',
  },
} as const satisfies Record<
  SubmissionBlocker | 'wallet_frozen' | 'customer_suspended' | 'delegation_revoked',
  Reason
>
