import { startDeliveries } from '../../src/bin/deliveries.ts'
import { environment } from '../../src/bin/environment.ts'
import { openHouse } from '../../src/bin/house.ts'
import { inCommon } from '../../src/bin/in-common.ts'
import { live } from '../../src/bin/lifetime.ts'
import { say } from '../../src/bin/say.ts'

/** What brings events to receivers, by itself. */
live(async life => {
  const settings = environment()
  const house = await openHouse({ settings: { ...settings, ...inCommon(settings) }, shared: true })
  life.closeLater(() => house.database.close())
  const part = startDeliveries(house)
  life.closeLater(() => part.stop())
  say('The deliverer is running.')
})
