import { casesFrom } from '../support/contract/contract.ts'
import { testOperations } from './operations.ts'

await testOperations(casesFrom('agents'))
