import type { Personal } from '../../values/personal.ts'

export const mppPersonal = {
  mpp_credentials: {
    personal: {
      merchant: { kind: 'payment', ground: 'payments', forget: 'word' },
      merchant_name: { kind: 'payment', ground: 'payments', forget: 'word' },
      url: { kind: 'payment', ground: 'payments', forget: 'word' },
      challenge: { kind: 'payment', ground: 'payments', forget: 'empty' },
      receipt: { kind: 'payment', ground: 'payments', forget: 'word' },
      note: { kind: 'words', ground: 'payments', forget: 'word' },
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
    keptWhile: {
      where: "t.status <> 'void' or t.transaction_id is not null",
      words: 'it was paid, or can still be',
    },
  },
  mpp_protect_rules: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract', forget: 'word' },
      pattern: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['type'],
  },
} as const satisfies Personal
