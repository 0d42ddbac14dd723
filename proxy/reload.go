package proxy

import "leeway/routing"

// Reload takes from settings read anew what may change while requests run: the mode of the cache preference, for all
// decisions from now on. Settings that could not be read, which err says, change nothing.
func (g *Gateway) Reload(c routing.Config, err error) {
	if err == nil {
		err = g.applyMode(c.CacheMode)
	}
	if err != nil {
		reloadFailures.Inc()
		g.log.Error().Err(err).Msg("the settings stay as they were")
	}
}

func (g *Gateway) applyMode(name string) error {
	mode, err := routing.ParseMode(name)
	if err != nil {
		return err
	}
	g.router.SetMode(mode)
	configGeneration.Inc()
	g.log.Info().Stringer("mode", mode).Msg("cache preference")
	return nil
}
