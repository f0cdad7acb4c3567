import './canvas/interpreting.ts'
import './canvas/talking.ts'
import './canvas/model.ts'
