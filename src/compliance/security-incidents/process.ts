import type { DurableProcess } from '../../kernel/contract/process.ts'

export const incidentProcess = {
  name: 'incident',
  title: 'Security incident',
  details: `Reminds of what is owed to the authorities: at half time, an hour before, and when the time is over. First of the decision whether the incident is major, then of the initial notification, the intermediate report, its update once business is normal again, and the final report (Delegated Regulation (EU) 2025/301, Article 5); beside them of the 72 hours of Regulation (EU) 2016/679, Article 33. Each reminder is an event of \`customer_house\`.

No signal decides. The operator classifies, submits and closes with the dashboard secret: \`POST /security/incidents/{id}/classify\`, \`/reports/{stage}/submit\`, \`/close\`.`,
} as const satisfies DurableProcess
