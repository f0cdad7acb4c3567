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

/** What all agents of an owner may spend together; where there is none, nothing is counted for it. */
export class OwnerBudget extends schema.class {}
schema.setClass(OwnerBudget)
