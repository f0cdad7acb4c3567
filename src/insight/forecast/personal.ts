import type { Personal } from '../../values/personal.ts'

export const forecastPersonal = {
  budget_watches: { personal: {}, plain: ['told_month'] },
} as const satisfies Personal
