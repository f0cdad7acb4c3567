import { casesOf } from '../support/contract/contract.ts'
import { contractService, testRequests } from './operations.ts'

// A part that `npm run test:changed` runs alone: the operations of the nouns that have changed.
testRequests(casesOf((process.env.NOUNS ?? '').split(',')), await contractService())
