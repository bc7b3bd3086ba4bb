package v1alpha1

// SetDefaults fills in the optional fields that have a default and were not
// given, as an API server does by the XRDs' schemas.
func (s *TMIComponentSpec) SetDefaults() {
	if s.InputMode == "" {
		s.InputMode = DefaultInputMode
	}
	if s.Egress == "" {
		s.Egress = DefaultEgress
	}
	s.Scaling.MinReplicas = defaulted(s.Scaling.MinReplicas, DefaultMinReplicas)
	s.Scaling.MaxReplicas = defaulted(s.Scaling.MaxReplicas, DefaultMaxReplicas)
	s.Scaling.QueueDepthTarget = defaulted(s.Scaling.QueueDepthTarget, DefaultQueueDepthTarget)
}

func defaulted(v *int32, def int32) *int32 {
	if v == nil {
		return &def
	}
	return v
}
