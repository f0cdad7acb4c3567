export { doubtfulMoneyApi } from './api.ts'
export { oldestDoubtSeconds } from './doubtful-money.ts'
