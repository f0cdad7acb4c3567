import { machine } from '../../kernel/contract/machine.ts'

/**
 * What was classified as major is reported in stages, of which one submission may cover several. What turns out not to be
 * major goes back to `classified`, and may be closed.
 */
export const incidentMachine = machine('security_incident', {
  detected: ['classified'],
  classified: ['initial_submitted', 'intermediate_submitted', 'final_submitted', 'closed'],
  initial_submitted: ['intermediate_submitted', 'final_submitted', 'classified'],
  intermediate_submitted: ['final_submitted', 'classified'],
  final_submitted: ['classified', 'closed'],
  closed: [],
})
export type IncidentStatus = (typeof incidentMachine.states)[number]
