export { budgetApi } from './api.ts'
export { OwnerBudget, ownerBudgetHandlers } from './budgets.ts'
export { BudgetCounters } from './counters.ts'
export { lockCounters, readCounters } from './open-counters.ts'
