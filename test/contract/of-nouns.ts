import { casesOf } from '../support/contract/contract.ts'
import { contractService, testRequests } from './operations.ts'

// A part for `npm run test:changed`: the operations of the changed nouns.
testRequests(casesOf((process.env.NOUNS ?? '').split(',')), await contractService())
