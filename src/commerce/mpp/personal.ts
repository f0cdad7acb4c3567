import type { Personal } from '../../values/personal.ts'

export const mppPersonal = {
  mpp_credentials: {
    personal: {
      merchant: { kind: 'payment', ground: 'payments' },
      merchant_name: { kind: 'payment', ground: 'payments' },
      url: { kind: 'payment', ground: 'payments' },
      challenge: { kind: 'payment', ground: 'payments' },
      receipt: { kind: 'payment', ground: 'payments' },
      note: { kind: 'words', ground: 'payments' },
    },
    plain: [
      'agent_credential_id',
      'sent_by',
      'method',
      'network',
      'challenge_id',
      'request_digest',
      'credential_digest',
      'outcome_by',
    ],
  },
  mpp_protect_rules: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract' },
      pattern: { kind: 'payment', ground: 'contract' },
      reason: { kind: 'words', ground: 'contract' },
    },
    plain: ['type'],
  },
} as const satisfies Personal
