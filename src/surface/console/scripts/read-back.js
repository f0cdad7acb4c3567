// The sentence of a group of fields says what they do, while the person edits them.

import { contentOf } from './form-body.js'
import { sentence } from './sentence.js'

export function readBack(form) {
  const { body } = contentOf(form)
  for (const line of form.querySelectorAll('[data-sentence]'))
    line.textContent = sentence(JSON.parse(line.dataset.sentence), body)
}
