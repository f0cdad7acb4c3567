import { agentsArea } from './control/agents/agents.ts'
import { policiesArea } from './control/policies/policies.ts'

/** The one list of areas, left to right in the order of what depends on what. */
export const areas = {
  agents: agentsArea,
  policies: policiesArea,
}
