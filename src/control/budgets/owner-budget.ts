import { defineEntity } from '@mikro-orm/core'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

const schema = defineEntity({
  ...tenantTable('OwnerBudget', 'owner_budgets'),
  properties: {
    ...record('budget'),
    dailyLimitEuros: nullable.euros('daily_limit_cents'),
    monthlyLimitEuros: nullable.euros('monthly_limit_cents'),
  },
})

/** The budget that all agents of an owner share. Nothing is counted for an owner without one. */
export class OwnerBudget extends schema.class {}
schema.setClass(OwnerBudget)
