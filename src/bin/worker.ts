import { startDeadlines } from './deadlines.ts'
import { environment } from './environment.ts'
import { showFigures } from './figures.ts'
import { openHouse } from './house.ts'
import { inCommon } from './in-common.ts'
import { live } from './lifetime.ts'
import { say } from './say.ts'
import { startSepaInbox } from './sepa-inbox.ts'
import { requireTemporal } from './temporal-access.ts'
import { startWork } from './work.ts'

/** One worker of several: carries out the durable processes, and ends what is overdue. */
live(async life => {
  const settings = environment()
  const access = requireTemporal(settings)
  const waiting = { tell: say, signal: life.ending }
  const house = await openHouse({ settings: { ...settings, ...inCommon(settings) }, waiting, shared: true })
  life.closeLater(() => house.database.close())
  life.closeLater(() => house.threads.stop())
  const figures = await showFigures(house)
  const parts = [startDeadlines(house), startSepaInbox(house), startWork(house, access)]
  for (const part of [...figures, ...parts]) life.closeLater(() => part.stop())
  say('The worker is running.')
})
