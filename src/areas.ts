import { agentsArea } from './control/agents/agents.ts'
import { policiesArea } from './control/policies/policies.ts'
import { healthArea } from './surface/health/health.ts'
import { pagesArea } from './surface/pages/pages.ts'

/** The one list of areas, left to right in the order of what depends on what. */
export const areas = {
  agents: agentsArea,
  policies: policiesArea,
  health: healthArea,
  pages: pagesArea,
}
