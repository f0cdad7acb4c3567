import './replay/bundle.ts'
import './replay/continued.ts'
