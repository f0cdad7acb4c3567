export { proposalsApi } from './api.ts'
export { createProposal, type ProposalAnswer } from './propose.ts'
