import { startDeliveries } from './deliveries.ts'
import { startRelay } from './engine.ts'
import { environment } from './environment.ts'
import { showFigures } from './figures.ts'
import { openHouse } from './house.ts'
import { inCommon } from './in-common.ts'
import { live } from './lifetime.ts'
import { startPushes } from './pushes.ts'
import { say } from './say.ts'
import { requireTemporal } from './temporal-access.ts'

/** One relay of several: brings the outbox to Temporal, and events to those who have subscribed to them. */
live(async life => {
  const settings = environment()
  const access = requireTemporal(settings)
  const waiting = { tell: say, signal: life.ending }
  const house = await openHouse({ settings: { ...settings, ...inCommon(settings) }, waiting, shared: true })
  life.closeLater(() => house.database.close())
  const figures = await showFigures(house)
  const parts = [startRelay(house, access), startDeliveries(house), startPushes(house)]
  for (const part of [...figures, ...parts]) life.closeLater(() => part.stop())
  say('The relay is running.')
})
