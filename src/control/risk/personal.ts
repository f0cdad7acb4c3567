import type { Personal } from '../../values/personal.ts'

export const riskPersonal = {
  risk_configs: {
    personal: {},
    plain: ['weights'],
  },
  risk_events: {
    personal: {
      merchant: { kind: 'payment', ground: 'moneyLaundering', forget: 'word' },
      signals: { kind: 'payment', ground: 'moneyLaundering', forget: 'empty' },
      comment: { kind: 'words', ground: 'moneyLaundering', forget: 'word' },
    },
    plain: ['outcome', 'subject_type', 'subject_id', 'decision_id', 'alert_id'],
  },
  risk_alerts: {
    personal: {
      merchant_key: { kind: 'payment', ground: 'moneyLaundering', forget: 'word' },
      signals: { kind: 'payment', ground: 'moneyLaundering', forget: 'empty' },
      comment: { kind: 'words', ground: 'moneyLaundering', forget: 'word' },
      acknowledged_by_id: { kind: 'name', ground: 'moneyLaundering', forget: 'word' },
    },
    plain: ['subject_type', 'subject_id'],
    about: { person: ['acknowledged_by_id'] },
  },
  risk_merchants: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
    },
    plain: [],
  },
  risk_profiles: {
    personal: {
      last_country: { kind: 'payment', ground: 'contract', forget: { value: 'ZZ' } },
    },
    plain: [],
  },
} as const satisfies Personal
