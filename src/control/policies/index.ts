export { Policy } from './policy.ts'
export { effectivePolicy, findPolicy } from './policy-versioning.ts'
export {
  type Decided,
  type Decision,
  decideFor,
  findSpenders,
  lockSpenders,
  lockSpendersOf,
  type Spender,
} from './spenders.ts'
