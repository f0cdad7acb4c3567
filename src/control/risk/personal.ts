import type { Personal } from '../../values/personal.ts'

export const riskPersonal = {
  risk_configs: {
    personal: {},
    plain: ['weights'],
  },
  risk_events: {
    personal: {
      merchant: { kind: 'payment', ground: 'moneyLaundering' },
      signals: { kind: 'payment', ground: 'moneyLaundering' },
      comment: { kind: 'words', ground: 'moneyLaundering' },
    },
    plain: ['outcome', 'subject_type', 'subject_id', 'decision_id', 'alert_id'],
  },
  risk_alerts: {
    personal: {
      merchant_key: { kind: 'payment', ground: 'moneyLaundering' },
      signals: { kind: 'payment', ground: 'moneyLaundering' },
      comment: { kind: 'words', ground: 'moneyLaundering' },
      acknowledged_by_id: { kind: 'name', ground: 'moneyLaundering' },
    },
    plain: ['subject_type', 'subject_id'],
    about: { person: ['acknowledged_by_id'] },
  },
  risk_merchants: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract' },
    },
    plain: [],
  },
  risk_profiles: {
    personal: {
      last_country: { kind: 'payment', ground: 'contract' },
    },
    plain: [],
  },
} as const satisfies Personal
