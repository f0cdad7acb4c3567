import { get, put } from '../../kernel/contract/operation.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { card_not_found, NO_NUMBERS, owner, readers, stateFails } from './api.ts'
import { CardControls, ControlsBody, cardEvents } from './schemas.ts'

export const controlsApi = {
  get: get('/cards/{id}/controls', {
    ...readers,
    summary: 'Get the controls of a card',
    returns: [200, CardControls],
    fails: { card_not_found },
  }),
  set: put('/cards/{id}/controls', {
    ...owner,
    summary: 'Set the controls of a card',
    description:
      'Which merchants, countries and categories the card may pay, beside the agent’s policy: what either of them forbids is declined. A list that is left out is no rule.',
    bodyLimitKiB: 256,
    body: withoutCardNumbers(ControlsBody, NO_NUMBERS),
    example: { merchantAllowlist: ['Bookshop'], allowedCountries: ['DE'] },
    returns: [200, CardControls],
    fails: stateFails,
    emits: { 'card.controls_changed': cardEvents['card.controls_changed'] },
  }),
}
