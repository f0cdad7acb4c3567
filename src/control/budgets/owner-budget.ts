import { defineEntity } from '@mikro-orm/core'
import { maybe, record, tenantTable } from '../../kernel/database/entity.ts'

const schema = defineEntity({
  ...tenantTable('OwnerBudget', 'owner_budgets'),
  properties: {
    ...record('budget'),
    dailyLimitEuros: maybe.euros('daily_limit_cents'),
    monthlyLimitEuros: maybe.euros('monthly_limit_cents'),
  },
})

/** What all agents of an owner may spend together. Nothing is counted for an owner without one. */
export class OwnerBudget extends schema.class {}
schema.setClass(OwnerBudget)
