export { budgetApi } from './api.ts'
export { OwnerBudget, ownerBudgets } from './budgets.ts'
export { BudgetCounters } from './counters.ts'
export { openCounters, readCounters } from './open-counters.ts'
