import { type Params, paidEndpoint, presentedIn } from '../../commerce/collect/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { File } from '../../kernel/contract/file.ts'
import { NextCall, Settled } from '../../kernel/contract/handlers.ts'
import { type HandlerOf, type InputOf, implement } from '../../kernel/contract/operation.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { mppMerchantsApi } from './api.ts'
import { afterCharge, asking, withoutCharge } from './endings.ts'
import { scenarioOf } from './scenarios.ts'
import { json, payee } from './stand.ts'

const good = paidEndpoint(payee)

type Handler = HandlerOf<typeof mppMerchantsApi.get>
type Input = InputOf<typeof mppMerchantsApi.get>
type Called = Parameters<typeof good.record>

/** The parameters of the address and of the query, as the payee reads them. */
const paramsOf = ({ params, query: { amountEuros } }: Input): Params =>
  amountEuros === undefined ? params : { ...params, amountEuros }

/** Everything that charges no card is answered by reading alone; what does is charged as a request is. */
const merchant: Handler = {
  async peek(input, context) {
    const { scenario: name } = input.params
    const scenario = scenarioOf(name)
    if (!scenario) return context.refuse('scenario_not_found')
    if (scenario.asks === 'no_money') return json({ scenario: name, content: 'This is free.' })
    if (scenario.asks === 'elsewhere')
      return withHeaders(context.refuse('moved'), { Location: 'http://169.254.169.254/' })
    const isPresented = presentedIn(context) !== undefined
    const article = await payee.find(paramsOf(input), context)
    if (!article) return context.refuse('scenario_not_found')
    if (isPresented && scenario.charges) return undefined
    return isPresented ? withoutCharge(article, scenario, context) : asking(article, scenario, context)
  },

  /** A credential that has been presented before gets the same answer again. */
  async reserve(input, context) {
    const reserved = await good.reserve({ params: paramsOf(input) }, context)
    const scenario = scenarioOf(input.params.scenario)
    if (!(reserved instanceof Settled) || !scenario) return reserved
    return new Settled(afterCharge(reserved.answer, scenario, context)) as Settled<File>
  },

  call: (reservation, outside) => good.call(reservation as Called[1], outside),

  async record(called, reserved, context) {
    const [answer, reservation] = [called, reserved] as [Called[0], Called[1]]
    const recorded = await good.record(answer, reservation, context)
    const scenario = scenarioOf(reservation.params.scenario ?? '')
    return recorded instanceof NextCall || !scenario ? recorded : afterCharge(recorded, scenario, context)
  },

  recover: (reserved, context) => good.recover(reserved as Called[1], context),
}

export const mppMerchantsArea = area(
  'Sandbox Merchants',
  'Merchants of test mode that programs pay: a good one, and all kinds of others.',
  implement(mppMerchantsApi, { get: merchant, post: merchant }),
)
